// test lane: newcomer, long
import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, before, describe, test } from "node:test"
import { pathToFileURL } from "node:url"
import { htmlReport } from "../evals/harness/html-report.ts"
import { renderSite } from "../scripts/docs/site.ts"
import { readPublicSurface } from "../scripts/public-surface.ts"
import { type Browser, faintTexts, type Page, startChromium, wideElements, withoutChromium } from "./chromium.ts"

const root = dirname(import.meta.dirname)
const looks = [
  { width: 1280, scheme: "light" },
  { width: 1280, scheme: "dark" },
  { width: 390, scheme: "light" },
  { width: 390, scheme: "dark" },
] as const

describe("in Chromium", { skip: withoutChromium }, () => {
  let browser: Browser
  let folder: string
  let pages: string[]

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-pages-"))
    browser = await startChromium()
    const files = renderSite(root, readPublicSurface() ?? [])
    pages = [...files.keys()].filter((path) => path.endsWith(".html"))
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
  })
  after(async () => {
    await browser?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const address = (path: string) => pathToFileURL(join(folder, path)).href

  /** Asserts that a page said nothing to the console and asked only for files of its own folder. */
  function assertQuiet(page: Page): void {
    assert.deepEqual(page.messages, [])
    assert.deepEqual(
      page.requests.filter((request) => !request.startsWith(address(""))),
      [],
    )
  }

  // The pages of the examples are all made alike.
  const parts = { "the documentation": /^(?!examples\/|api\/)/, "the API reference": /^api\// }
  for (const [name, belongs] of Object.entries(parts)) {
    test(`every page of ${name} fits a phone, loads only its own files and reports no error`, async () => {
      for (const path of pages.filter((each) => belongs.test(each))) {
        const page = await browser.open(address(path), { width: 390, scheme: "light" })
        assert.deepEqual(await wideElements(page), [], path)
        assertQuiet(page)
        await page.close()
      }
    })
  }

  for (const look of looks) {
    const title = `in ${look.scheme} colours, ${look.width} pixels wide`
    test(`the documentation can be read ${title}`, async () => {
      for (const path of ["index.html", "getting-started.html", "api/karst-models.html", "examples/01-hello.html"]) {
        if (!pages.includes(path)) continue
        const page = await browser.open(address(path), look)
        await page.screenshot(`site-${path.replaceAll("/", "-")}-${look.width}-${look.scheme}`)
        assert.deepEqual(await faintTexts(page), [], path)
        assert.deepEqual(await wideElements(page), [], path)
        await page.close()
      }
    })

    test(`the report of the evaluations can be read ${title}`, async () => {
      await writeFile(join(folder, "report.html"), report)
      const page = await browser.open(address("report.html"), look)
      await page.screenshot(`report-${look.width}-${look.scheme}`)
      assert.deepEqual(await faintTexts(page), [])
      assert.deepEqual(await wideElements(page), [])
      assert.equal(await page.evaluate("document.querySelectorAll('svg rect').length"), 4)
      assertQuiet(page)
      await page.close()
    })
  }

  test("the search of the documentation finds a page and leads to it; the menu opens on a phone", async () => {
    const page = await browser.open(address("examples.html"), { width: 390, scheme: "light" })
    assert.equal(await page.evaluate("document.querySelector('details.menu').open"), false)
    const type = (text: string) =>
      page.evaluate(`{ const input = document.querySelector('#search'); input.value = '${text}'
        input.dispatchEvent(new Event('input')) }`)
    await type("getting started")
    const [first = ""] = await page.evaluate<string[]>(
      "[...document.querySelectorAll('#results a')].map((a) => a.href)",
    )
    assert.equal(first, address("getting-started.html"))
    await page.screenshot("site-search")
    assert.deepEqual(await wideElements(page), [])
    await type("zzzzzz")
    assert.equal(await page.evaluate("document.querySelector('#results').checkVisibility()"), false)
    await page.evaluate("document.querySelector('details.menu summary').click()")
    assert.equal(await page.evaluate("document.querySelector('nav li a').checkVisibility()"), true)
    assert.deepEqual(await wideElements(page), [])
    assertQuiet(page)
    await page.close()
  })
})

const report = htmlReport([
  {
    id: "one",
    title: "One suite",
    text: "What it **shows**, in `code` and words.\n\n- a list\n- of two",
    facts: "Run on one machine.",
    checks: { columns: [{ name: "what" }, { name: "passed", format: "number" }], rows: [["End states are equal", 12]] },
    sections: [
      {
        title: "A table",
        table: {
          columns: Array.from({ length: 12 }, (_, index) => ({ name: `column number ${index}`, format: "number" })),
          rows: [Array.from({ length: 12 }, (_, index) => index * 123_456)],
        },
      },
      {
        title: "A plot",
        plot: {
          type: "bars",
          title: "Tokens",
          unit: "thousands",
          groups: ["short tasks", "long tasks"],
          series: [
            { name: "tools", values: [3, 9] },
            { name: "code", values: [2, 4] },
          ],
        },
      },
    ],
  },
])
