import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, before, describe, test } from "node:test"
import { examplesPage, listOfExamples } from "../scripts/docs/examples-list.ts"
import { brokenLinks } from "../scripts/docs/links.ts"
import { anchorOf, renderMarkdown } from "../scripts/docs/markdown-page.ts"
import { fillRegions, readRegion, regionsOf } from "../scripts/docs/regions.ts"
import { renderSite } from "../scripts/docs/site.ts"
import { styledLines, terminalSvg } from "../scripts/docs/terminal-svg.ts"
import type { PublicModule } from "../scripts/public-surface.ts"

const root = dirname(import.meta.dirname)
const surface: PublicModule[] = [
  {
    name: "karst/models",
    summary: "karst/models: language models.",
    exports: [
      {
        name: "aiSdk",
        isType: false,
        comment: "Makes a {@link Model} of <T>.",
        declaration: "function aiSdk(): Model;",
      },
      {
        name: "Model",
        isType: true,
        comment: "",
        declaration: "interface Model {\n    /** Its id. */\n    id: string;\n}",
      },
    ],
  },
]

describe("the documentation site", () => {
  const files = renderSite(root, surface)

  test("has no link that leads nowhere, and loads nothing from another server", () => {
    assert.deepEqual(brokenLinks(files), [])
  })

  test("has every page of docs/, every example and every public module", () => {
    const wanted = [
      ...globSync("docs/*.md", { cwd: root }).map((path) => path.replace(/^docs\/(.*)md$/, "$1html")),
      ...globSync("examples/*.ts", { cwd: root }).map((path) => path.replace(/ts$/, "html")),
      "api/karst-models.html",
    ]
    assert.deepEqual(
      wanted.filter((path) => !files.has(path)),
      [],
    )
  })

  test("has the list of examples, one line for each, which is also in examples/README.md", () => {
    const list = readFileSync(join(root, examplesPage), "utf8")
    assert.equal(list, listOfExamples(root), "run `npm run docs -- --write`")
    const named = [...list.matchAll(/^\| \[[\w-]+\]\(([\w-]+\.ts)\) \| .{30,220} \|$/gm)].map(
      ([, file]) => `examples/${file}`,
    )
    assert.deepEqual(named, globSync("examples/*.ts", { cwd: root }).sort())
    assert.match(files.get("examples.html") ?? "", /<a href="examples\/48-evals\.html">/)
  })

  test("shows the comments of the source in the API reference", () => {
    const page = files.get("api/karst-models.html") ?? ""
    assert.match(page, /<p>Makes a <code>Model<\/code> of &lt;T&gt;\.<\/p>/)
    assert.match(page, /Its id\./)
    assert.match(page, /\(\): <a class="cyan" href="#model">Model<\/a>/)
  })

  test("lists every page of docs/ in llms.txt", () => {
    const list = files.get("llms.txt") ?? ""
    const pages = globSync("docs/*.md", { cwd: root }).map((path) => path.replace("docs/", ""))
    assert.deepEqual(
      pages.filter((page) => !list.includes(`](${page}): `)),
      [],
    )
  })
})

describe("the check of links", () => {
  const page = (html: string) => new Map([["index.html", html]])

  test("reports a missing page, a missing heading and a script from another server", () => {
    assert.deepEqual(brokenLinks(page('<a href="gone.html">x</a>')), ["index.html: gone.html leads to no file"])
    assert.deepEqual(brokenLinks(page('<a href="#gone">x</a>')), ["index.html: #gone leads to no heading"])
    assert.deepEqual(brokenLinks(page('<script src="https://x.example/a.js"></script>')), [
      "index.html: <script> loads https://x.example/a.js from another server",
    ])
  })

  test("accepts a heading that exists and an address of another site", () => {
    assert.deepEqual(brokenLinks(page('<h1 id="a">a</h1><a href="#a">x</a><a href="https://x.example">y</a>')), [])
  })
})

describe("a page", () => {
  test("has the anchors that GitHub gives to headings", () => {
    assert.equal(anchorOf("Security: what is confined, and `x[key]`"), "security-what-is-confined-and-xkey")
    const { headings } = renderMarkdown("# Same\n\n## Same", (href) => href)
    assert.deepEqual(
      headings.map(({ anchor }) => anchor),
      ["same", "same-1"],
    )
  })

  test("keeps the title of a link", () => {
    const { html } = renderMarkdown('[✓][a]\n\n[a]: a.ts "it is <so>"', (href) => href)
    assert.match(html, /<a href="a\.ts" title="it is &lt;so&gt;">✓<\/a>/)
  })

  test("shows code as text", () => {
    const { html } = renderMarkdown('```ts\nconst a = "<script>"\n```', (href) => href)
    assert.ok(!html.includes("<script>"))
  })
})

describe("regions", () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-regions-"))
    await writeFile(join(folder, "a.ts"), "one\n  // #region two\n  two\n    three\n  // #endregion\n")
  })
  after(() => rm(folder, { recursive: true }))

  test("fill the block that follows their comment", () => {
    const page = "<!-- region a.ts#two -->\n```ts\nold\n```\n\ntext\n\n```ts\nother\n```\n"
    assert.equal(
      fillRegions(page, folder),
      "<!-- region a.ts#two -->\n```ts\ntwo\n  three\n```\n\ntext\n\n```ts\nother\n```\n",
    )
    assert.equal(fillRegions("<!-- region a.ts -->\n```\n```\n", folder).includes("#region"), false)
  })

  test("can have several parts, and share lines", async () => {
    const lines = [
      "// #region a b",
      "import x",
      "// #endregion",
      "hidden",
      "  // #region b",
      "  two",
      "  // #endregion",
    ]
    await writeFile(join(folder, "b.ts"), lines.join("\n"))
    assert.equal(readRegion(folder, "b.ts", "a"), "import x\n")
    assert.equal(readRegion(folder, "b.ts", "b"), "import x\n\ntwo\n")
    await writeFile(join(folder, "c.py"), "# #region a\nx = 1\n# #endregion\n")
    assert.equal(readRegion(folder, "c.py", "a"), "x = 1\n")
  })

  test("without an end are errors", async () => {
    await writeFile(join(folder, "d.ts"), "// #region a\none\n// #region b\ntwo\n// #endregion\n")
    assert.throws(() => readRegion(folder, "d.ts", "a"), /region "a" of d\.ts has no end/)
  })

  test("that do not exist are errors that name the file", () => {
    assert.throws(() => fillRegions("<!-- region a.ts#no -->\n```ts\n```\n", folder), /a\.ts has no region "no"/)
    assert.throws(() => regionsOf("<!-- region a.ts -->\n\ntext\n"), /no code block follows/)
  })

  test("of README.md and docs/ are equal to their files", () => {
    const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })]
    for (const page of pages) {
      for (const { line, path, name, written } of regionsOf(readFileSync(join(root, page), "utf8")))
        assert.equal(written, readRegion(root, path, name), `line ${line} of ${page}: run \`npm run docs -- --write\``)
    }
  })
})

describe("the drawing of a terminal", () => {
  test("keeps the style of a line for the lines that follow, until it is reset", () => {
    const [, second, third] = styledLines(["\x1b[2mone", "two", "\x1b[0;31mthree"])
    assert.deepEqual(second, [{ column: 0, text: "two", style: { dim: true } }])
    assert.deepEqual(third, [{ column: 0, text: "three", style: { color: "#f07178" } }])
  })

  test("counts columns as a terminal does", () => {
    const [line] = styledLines(["日本\x1b[1mb"])
    assert.deepEqual(line?.at(-1), { column: 4, text: "b", style: { bold: true } })
  })

  test("draws a row that occurs twice once, and shows text as text", () => {
    const svg = terminalSvg(
      [
        { lines: ["<a>"], ms: 1 },
        { lines: ["", "<a>"], ms: 1 },
      ],
      "t",
    )
    assert.equal(svg.match(/&lt;a&gt;/g)?.length, 1)
  })
})
