// test lane: newcomer, long
import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { pathToFileURL } from "node:url"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { trajectoryPage } from "../../../src/cli/trajectory/html-page.ts"
import { viewOf } from "../../../src/cli/trajectory/overview.ts"
import type { Trajectory } from "../../../src/core/trajectory.ts"
import type { ModelPart } from "../../../src/models/model.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { fn } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { type Browser, faintTexts, type Page, startChromium, wideElements, withoutChromium } from "../../chromium.ts"

const attack = `<script>document.title = "owned"</script><img src=x onerror="document.title = 'owned'"><style>*{}</style>`
const usage = { input: 1000, output: 20, cacheRead: 400, costUsd: 0.002, complete: true }

describe("the page of a trajectory in Chromium", { skip: withoutChromium }, () => {
  let browser: Browser
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-page-"))
    browser = await startChromium()
  })
  after(async () => {
    await browser?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  /** Opens the page of a trajectory. After the test it must have said nothing to the console and loaded nothing. */
  async function open(trajectory: Trajectory, width: number, scheme: "light" | "dark"): Promise<Page> {
    const file = join(folder, `${width}-${scheme}.html`)
    await writeFile(file, trajectoryPage(viewOf(trajectory)))
    const page = await browser.open(pathToFileURL(file).href, { width, scheme })
    await page.screenshot(`trajectory-${width}-${scheme}`)
    assert.deepEqual(page.messages, [])
    assert.deepEqual(page.requests, [pathToFileURL(file).href])
    return page
  }

  test("shows hostile text as text and runs nothing of it", async () => {
    const agent = createAgent({
      name: "counter",
      model: scriptedModel([`\`\`\`ts\n"${attack.replaceAll('"', '\\"')}"\n\`\`\``, `It is ${attack}`]),
    })
    const { trajectory } = await agent.run(attack)
    const page = await open(trajectory, 1000, "light")
    assert.equal(await page.evaluate("document.title"), "counter")
    assert.equal(await page.evaluate("document.querySelectorAll('section').length"), 3)
    assert.equal(await page.evaluate("document.querySelectorAll('img, script, style').length"), 1)
    assert.match(await page.evaluate("document.body.innerText"), /<script>document\.title = "owned"<\/script>/)
    await page.close()
  })

  for (const [width, scheme] of [
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const) {
    test(`shows cells, outputs, charts and nested agents in ${scheme} colours, ${width} pixels wide`, async () => {
      const page = await open(await longTrajectory(), width, scheme)
      const text = await page.evaluate<string>("document.body.innerText")
      assert.match(text, /const rows = await sales\(\)/)
      assert.match(text, /region-0/)
      assert.match(text, /missing is not defined/)
      assert.match(text, /Sub-agent helper: 3 steps/)
      assert.match(text, /12 pears\./)
      assert.match(text, /fruit\s+amount\s+apple\s+6/)
      const [imageWidth = 0, mainWidth = 0] = await page.evaluate<number[]>(
        "[document.querySelector('img').getBoundingClientRect().width, document.querySelector('main').getBoundingClientRect().width]",
      )
      assert.ok(imageWidth > 100 && imageWidth <= mainWidth, `the chart is ${imageWidth} of ${mainWidth} pixels wide`)
      assert.ok(await page.evaluate("document.querySelector('img').naturalWidth > 0"), "the chart is not drawn")
      assert.deepEqual(await wideElements(page), [])
      const back = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor")
      assert.equal(back, scheme === "light" ? "rgb(255, 255, 255)" : "rgb(13, 17, 23)")
      assert.deepEqual(await faintTexts(page), [])
      await page.close()
    })
  }

  test("folds long text, which a click opens and closes again without a script", async () => {
    const page = await open(await longTrajectory(), 390, "light")
    const shown = () => page.evaluate<boolean[]>("[isShown('line 1 of'), isShown('line 199 of')]")
    await page.evaluate(`globalThis.isShown = (text) => [...document.querySelectorAll('.fold pre')]
      .some((block) => block.checkVisibility() && block.innerText.includes(text))`)
    const click = () =>
      page.evaluate(
        "[...document.querySelectorAll('.fold')].find((fold) => fold.textContent.includes('line 1 of')).firstChild.click()",
      )
    assert.deepEqual(await shown(), [true, false])
    await click()
    assert.deepEqual(await shown(), [true, true])
    await page.screenshot("trajectory-open")
    assert.deepEqual(await wideElements(page), [])
    await click()
    assert.deepEqual(await shown(), [true, false])
    await page.close()
  })

  test("hides cells and tool calls on request", async () => {
    const page = await open(await longTrajectory(), 1280, "light")
    await page.evaluate("document.querySelector('#hide-actions').click()")
    const text = await page.evaluate<string>("document.body.innerText")
    assert.doesNotMatch(text, /const rows|missing is not defined/)
    assert.match(text, /Apples sell best/)
    await page.close()
  })
})

/** Two prompts: cells with tables, an error, long output, long lines, a chart and a sub-agent. */
async function longTrajectory(): Promise<Trajectory> {
  const helper = createAgent({ name: "helper", model: scriptedModel(["```ts\n3 * 4\n```", "12 pears."], { usage }) })
  const delegate: ModelPart[] = [
    {
      type: "tool-call",
      id: "d",
      name: "delegate",
      input: { tasks: [{ agent: "helper", prompt: "Count the pears" }] },
    },
  ]
  const rows = Array.from({ length: 8 }, (_, index) => ({
    region: `region-${index}`,
    amount: index * 1250.5,
    address: `https://shop.example/${"orders/".repeat(20)}${index}`,
  }))
  const lead = createAgent({
    name: "lead",
    agents: { helper },
    model: scriptedModel(
      [
        [
          { type: "reasoning", text: "First I read the rows." },
          {
            type: "text",
            text: `I read the sales.\n\n\`\`\`ts\nconst rows = await sales() // ${"a long comment ".repeat(12)}\nconst total = rows.reduce((sum, row) => sum + row.amount, 0)\nrows\n\`\`\``,
          },
        ],
        "```ts\nmissing.name\n```",
        '```ts\nfor (let i = 1; i < 200; i++) console.log(`line ${i} of ${"word ".repeat(8)}`)\n```',
        delegate,
        '# Result\n\nApples sell **best**: see `rows`.\n\n| fruit | amount |\n|---|---|\n| apple | 6 |\n\n```json\n{ "a": 1 }\n```\n\n- one\n- two',
        "A second answer.",
      ],
      { usage },
    ),
    runtime: () => jsRuntime({ sales: fn(async () => rows) }),
  })
  const session = await lead.session()
  await session.send("What sells best?")
  await session.send(`And https://shop.example/${"x".repeat(300)}?`)
  await session.close()
  const trajectory = session.trajectory()
  const bars = rows.map(
    (_, index) =>
      `<rect x="${index * 90}" y="${300 - index * 30}" width="70" height="${index * 30}" fill="steelblue"/>`,
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="320">${bars.join("")}</svg>`
  const chart = { type: "image" as const, mediaType: "image/svg+xml", data: Buffer.from(svg).toString("base64") }
  const first = trajectory.events.findIndex(({ type }) => type === "code-end")
  const events = trajectory.events.map((event, index) =>
    index === first && event.type === "code-end" ? { ...event, images: [chart] } : event,
  )
  return { ...trajectory, events }
}
