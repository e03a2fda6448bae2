// test lane: unit, long
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import type { AgentEvent } from "../../../src/core/event.ts"
import { requires } from "../../system.ts"
import { karst, modelServer, startKarst } from "../karst.ts"

const code = (source: string) => `Let me see.\n\n\`\`\`ts\n${source}\n\`\`\``

test("a prompt is run to its answer, with exit code 0", async (t) => {
  const { id } = await modelServer(t, [code("6 * 7"), "It is **42**."])
  const { code: exit, stdout, stderr } = await karst(["run", "What", "is it?", "--model", id])
  assert.equal(stderr, "")
  assert.equal(exit, 0)
  assert.match(
    stdout,
    /^karst · openai-compatible\/test · cells [^\n]*\n\n❯ What is it\?\n\n● Let me see\.\n\n {2}│ 6 \* 7\n {2}└ 42\n\n● It is 42\.\n\n✓ done · 2 cycles/,
  )
})

test("a bare prompt and one from standard input are run too, and KARST_MODEL names the model", async (t) => {
  const { id, bodies } = await modelServer(t, ["Fine."])
  const bare = await karst(["How are you?", "--mode", "result"], { KARST_MODEL: id })
  assert.equal(bare.stdout, "Fine.\n")
  const { child, ended } = startKarst(["run", "-", "--mode", "result"], { KARST_MODEL: id })
  child.stdin.end("And you?")
  assert.equal((await ended).stdout, "Fine.\n")
  assert.match(bodies[0] ?? "", /How are you\?/)
  assert.match(bodies[1] ?? "", /And you\?/)
})

test("--json prints every event as a line of JSON, and nothing else", async (t) => {
  const { id } = await modelServer(t, [code("console.log('hi')"), "Done."])
  const { code: exit, stdout } = await karst(["run", "Say hi", "--model", id, "--json"])
  assert.equal(exit, 0)
  const events: AgentEvent[] = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
  assert.equal(events[0]?.type, "run-start")
  assert.match(String(events[0]?.type === "run-start" && events[0].metadata.session), /^s_\w+$/)
  assert.equal(events.at(-1)?.type, "run-end")
  assert.ok(events.some((event) => event.type === "code-end" && event.ok && event.text.includes("hi")))
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index),
  )
})

test("skills are offered to the agent, which activates them", async (t) => {
  const { id, bodies } = await modelServer(t, [
    code('await activateSkill("data-analysis")'),
    code("typeof profile"),
    "ok",
  ])
  const skills = ["--skill", "skills/data-analysis"]
  const { code: exit, stdout, stderr } = await karst(["run", "Look", "--model", id, ...skills])
  assert.equal(stderr, "")
  assert.equal(exit, 0)
  assert.match(stdout, /└ 'function'/)
  assert.match(bodies[0] ?? "", /data-analysis: Analyse/)
  const shown = await karst(["prompt", ...skills])
  assert.match(shown.stdout, /data-analysis: Analyse/)
  const missing = await karst(["run", "Look", "--model", id, "--skill", "nowhere"])
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /--skill: there is no folder nowhere/)
})

test("data files become variables named after them, which cells use", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "karst-test-"))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, "my sales.csv"), "month,amount\nJan,10\nFeb,32\n")
  await writeFile(join(folder, "class.json"), '{ "name": "A" }')
  const source = "console.log(mySales.reduce((sum, row) => sum + row.amount, 0), _class.name)"
  const { id, bodies } = await modelServer(t, [code(source), "ok"])
  const data = ["--data", "my sales.csv", "--data", "class.json"]
  const { code: exit, stdout, stderr } = await karst(["run", "Sum it", "--model", id, ...data], {}, folder)
  assert.equal(exit, 0)
  assert.match(stdout, / {2}└ 42 A\n/)
  assert.match(stderr, /^mySales: 2 records from my sales\.csv\n_class: read from class\.json\n$/)
  assert.match(bodies[0] ?? "", /mySales: \{ month: string; amount: number \}\[\]/)
})

test("a run that reaches its limit exits with 3", async (t) => {
  const { id } = await modelServer(t, [code("1 + 1")])
  const { code: exit, stdout } = await karst(["run", "Go on", "--model", id, "--max-cycles", "2"])
  assert.equal(exit, 3)
  assert.match(stdout, /■ stopped by its limit on cycles · 2 cycles/)
})

test("a run that fails exits with 1 and says why; the answer alone stays clean", async (t) => {
  const { id } = await modelServer(t, [
    (response) =>
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"no such model"}}'),
  ])
  const full = await karst(["run", "x", "--model", id])
  assert.equal(full.code, 1)
  assert.match(full.stdout, /no such model[\s\S]*✗ failed/)
  const result = await karst(["run", "x", "--model", id, "--mode", "result"])
  assert.equal(result.code, 1)
  assert.equal(result.stdout, "")
  assert.match(result.stderr, /no such model/)
})

test("generated code is held to the safe rules", async (t) => {
  const { id } = await modelServer(t, [code('await import("node:child_process")'), "ok"])
  const { stdout } = await karst(["run", "x", "--model", id])
  assert.match(stdout, /└ .*child_process/)
})

test("generated code runs in another process, and the header says how it is isolated; --in-process opts out", async (t) => {
  const { id } = await modelServer(t, [code("process.pid"), "ok"])
  const own = startKarst(["run", "x", "--model", id])
  own.child.stdin.end()
  const { stdout } = await own.ended
  const isolation = requires("bwrap") === undefined ? "isolated by the operating system" : "in a process of their own"
  assert.match(stdout, new RegExp(`^karst · openai-compatible/test · cells ${isolation}`))
  assert.doesNotMatch(stdout, new RegExp(`└ ${own.child.pid}\\n`))
  const { id: other } = await modelServer(t, [code("process.pid"), "ok"])
  const inside = startKarst(["run", "x", "--model", other, "--in-process"])
  inside.child.stdin.end()
  assert.match((await inside.ended).stdout, /^karst · openai-compatible\/test · cells in this process\n/)
})

test("the command that continues a run is one that the user's shell finds", async (t) => {
  const { id } = await modelServer(t, ["Fine."])
  const hint = async (env: Record<string, string>) =>
    /Continue: (.*) resume s_/.exec((await karst(["run", "x", "--model", id], env)).stdout)?.[1]
  assert.equal(await hint({}), "karst")
  assert.equal(await hint({ npm_lifecycle_event: "npx" }), "npx karst")
  assert.equal(await hint({ npm_lifecycle_event: "start", npm_package_name: "my-agent" }), "npx karst")
  assert.equal(await hint({ npm_lifecycle_event: "start", npm_package_name: "karst" }), "npm start --")
})

test("Ctrl-C aborts the run, says how to continue it, and exits with 130", async (t) => {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const { id } = await modelServer(t, [() => resolve()])
  const { child, ended } = startKarst(["run", "x", "--model", id])
  await asked
  child.kill("SIGINT")
  const { code: exit, stdout, stderr } = await ended
  assert.equal(exit, 130)
  assert.match(stdout, /■ aborted/)
  assert.match(stderr, /^Continue: karst resume s_\w+\n$/)
})

test("a second Ctrl-C leaves at once, whatever a cell holds on to", async (t) => {
  const { id } = await modelServer(t, [code("console.log('stuck'); await new Promise(() => {})")])
  const { child, ended } = startKarst(["run", "x", "--model", id, "--json"])
  while (!String(await once(child.stdout, "data")).includes("stuck"));
  child.kill("SIGINT")
  child.kill("SIGINT")
  assert.equal((await ended).code, 130)
})

test("a call that never ends keeps the command waiting until Ctrl-C aborts the run", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "karst-test-"))
  t.after(() => rm(folder, { recursive: true }))
  const path = (file: string) => JSON.stringify(import.meta.resolve(`../../../src/${file}`))
  // The timer does not keep a process alive. So its text shows that something else does.
  await writeFile(
    join(folder, "agents.ts"),
    `import { createAgent, jsRuntime } from ${path("index.ts")}
    import { scriptedModel } from ${path("models.ts")}
    const stuck = () => (setTimeout(() => console.log("still here"), 50).unref(), new Promise(() => {}))
    const model = scriptedModel(["\`\`\`ts\\nawait stuck()\\n\`\`\`"])
    export const agent = createAgent({ model, runtime: () => jsRuntime({ stuck }) })`,
  )
  const { child, ended } = startKarst(["run", "x", "--agent", join(folder, "agents.ts")])
  while (!String(await once(child.stdout, "data")).includes("still here"));
  child.kill("SIGINT")
  const { code: exit, stderr } = await ended
  assert.match(stderr, /^Continue: karst resume s_\w+\n$/)
  assert.equal(exit, 130)
})

test("a reader that leaves early is no error", async (t) => {
  const { id } = await modelServer(t, [code("for (let i = 0; i < 50; i++) console.log('x'.repeat(1000))"), "ok"])
  const { child, ended } = startKarst(["run", "x", "--model", id, "--json"])
  child.stdout.once("data", () => child.stdout.destroy())
  const { code: exit, stderr } = await ended
  assert.deepEqual({ exit, stderr }, { exit: 0, stderr: "" })
})
