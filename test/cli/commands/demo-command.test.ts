// test lane: unit, long
import assert from "node:assert/strict"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { drawSvg } from "../../../src/cli/commands/demo/draw.ts"
import { Charts, Sprinkler } from "../../../src/cli/commands/demo/objects.ts"
import { drawBars } from "../../../src/display/draw-bars.ts"
import { textWidth } from "../../../src/display/text-width.ts"
import { karst, startKarst } from "../karst.ts"

// Every attempt to connect ends the program.
const refuse = "(await import('node:net')).Socket.prototype.connect = () => process.exit(99)"
const withoutNetwork = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refuse)}` }

test("the demo runs without key or network, corrects its error, and the program reads its objects back", async (t) => {
  const out = await mkdtemp(join(tmpdir(), "karst-test-"))
  t.after(() => rm(out, { recursive: true }))
  const { code, stdout, stderr } = await karst(["demo", "--fast", "--out", out], withoutNetwork)
  assert.equal(stderr, "")
  assert.equal(code, 0)
  assert.match(stdout, /The model's turns are replayed from a recording\.\nEverything else is live/)
  assert.match(stdout, /→ loadCsv\("seattle-weather\.csv"\)/)
  assert.match(stdout, /[└ ] RangeError: water: 68 mm in Jul, but the pump gives at most 60 mm a month/)
  assert.match(stdout, /✓ done · 5 cycles/)
  const [, readBack = ""] = stdout.split("Now the program reads its own objects back")
  assert.match(readBack, /Nov █{40} 160\.6\n/)
  assert.match(readBack, /May 28\.1 · Jun 54\.8 · Jul 60 · Aug 39\.1 · Sep 21\.1\n/)
  const svg = await readFile(join(out, "chart-1.svg"), "utf8")
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[\s\S]*<\/svg>\n$/)
  assert.equal(svg.match(/<rect /g)?.length, 13)
})

test("the figures of the recorded answer are those its cells computed", async () => {
  const { stdout } = await karst(["demo", "--fast"])
  const [cells = "", answer = ""] = stdout.split("● Seattle is dry")
  for (const figure of ["160.6 mm", "12.1 mm", "197 mm", "203 mm", "68 mm"]) {
    assert.ok(answer.includes(figure), `${figure} is in the answer`)
    assert.ok(cells.includes(figure), `${figure} was printed by a cell`)
  }
})

test("without arguments karst runs the demo, and Ctrl-C ends it with 130", async () => {
  const { child, ended } = startKarst([])
  child.stdout.once("data", () => child.kill("SIGINT"))
  const { code, stdout } = await ended
  assert.equal(code, 130)
  assert.match(stdout, /^Karst demo/)
})

test("short and result modes show less of it", async () => {
  const short = await karst(["demo", "--fast", "--mode", "short"])
  assert.match(
    short.stdout,
    /\n✗ const season = \["May", "Jun", "Jul", "Aug", "Sep"\] \(\+ 4 lines\) · \d+ ms\n {2}RangeError/,
  )
  const result = await karst(["demo", "--fast", "--mode", "result"])
  assert.match(result.stdout, /^Seattle is dry just when a garden is thirsty\.\n/)
})

test("a chart is exact to an eighth of a column, and a picture is well formed whatever its words", () => {
  const chart = { title: 'a < b & "c"\x1b[2J', unit: "", labels: ["x", "long"], values: [1, 2] }
  assert.deepEqual(
    drawBars(chart, 10, (text) => text),
    ["x    █▌ 1", "long ███ 2"],
  )
  assert.deepEqual(
    drawBars({ ...chart, values: [0, 0] }, 10, (text) => text),
    ["x     0", "long  0"],
  )
  for (const columns of [12, 24, 36])
    for (const line of drawBars({ ...chart, labels: ["日本語の長い名前", "two words"] }, columns, (text) => text))
      assert.ok(textWidth(line) <= columns, `${columns}: ${line}`)
  assert.match(drawSvg(chart), /<title>a &#60; b &#38; &#34;c&#34;<\/title>/)
  assert.doesNotMatch(drawSvg({ ...chart, labels: [], values: [] }), /NaN|Infinity/)
})

test("the demo's objects guard themselves", () => {
  const sprinkler = new Sprinkler()
  assert.throws(() => sprinkler.water("Jul", 61), /at most 60 mm/)
  assert.throws(() => sprinkler.water("Jul", Number.NaN), /not an amount/)
  sprinkler.water("Jul", 60)
  assert.deepEqual(sprinkler.plan, { Jul: 60 })
  assert.throws(() => new Charts().bar({ title: "t", labels: ["a"], values: [] }), /1 labels for 0 values/)
})
