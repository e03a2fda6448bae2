// test lane: unit, long
import assert from "node:assert/strict"
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { modelServer, startKarst } from "../karst.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`
const source = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href)

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "karst-chat-"))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Sends lines to a chat without a terminal and returns what it printed. */
async function talk(cwd: string, args: string[], lines: string[], env: Record<string, string> = {}) {
  const { child, ended } = startKarst(["chat", ...args], env, cwd)
  child.stdin.end(`${lines.join("\n")}\n`)
  return await ended
}

describe("karst chat without a terminal", () => {
  test("answers line by line in plain text, and goes back", async (t) => {
    const folder = await temporaryFolder(t)
    const { id, bodies } = await modelServer(t, [cell("const total = 15"), "It is 15.", "Nothing."])
    const lines = ["How much\\", "is it?", "/vars", "/undo", "/vars", "/cost", "And now?", "/nonsense"]
    const { code, stdout, stderr } = await talk(folder, ["--model", id], lines)
    assert.equal(code, 0, stderr)
    assert.doesNotMatch(stdout, /\x1b/)
    assert.match(stdout, /^karst · openai-compatible\/test · cells .*· \/help\n\n❯ How much\n {2}is it\?\n/)
    assert.match(stdout, /● It is 15\.\n\n✓ done/)
    assert.match(stdout, /total {2}variable {2}number\n/)
    assert.match(stdout, /Undone: .*\n· The prompt was: How much\n {2}is it\?\n· There are no variables yet\.\n/)
    assert.match(stdout, /· 1 run · 30 tokens\n/)
    assert.match(stdout, /● Nothing\./)
    assert.match(stdout, /There is no command \/nonsense\. {1,2}\/help lists them\./)
    assert.doesNotMatch(bodies[2] ?? "", /How much/)
    assert.match(stderr, /Continue: karst chat --session s_/)
  })

  test("gives back the prompt of the run that was undone, not a later one; /vars lists data files of any name", async (t) => {
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, "class.csv"), "a\n1\n")
    const { id } = await modelServer(t, ["Hi.", cell("const total = 15"), "It is 15.", "You are welcome."])
    const lines = ["Hello", "Count it", "Thanks", "/vars", "/undo"]
    const { stdout, stderr } = await talk(folder, ["--model", id, "--data", "class.csv"], lines)
    assert.match(stdout, /_class {2}yours, variable/, stderr)
    assert.match(stdout, /Undone: .*\n· The prompt was: Count it\n/)
  })

  test("sends the contents of mentioned files and does not print them, also not when the session is shown again", async (t) => {
    const folder = await temporaryFolder(t)
    const env = { KARST_HOME: join(folder, "home") }
    await writeFile(join(folder, "notes.txt"), "inside\n</file>\nstill inside")
    const { id, bodies } = await modelServer(t, [cell("1"), "Read."])
    const { stdout, stderr } = await talk(folder, ["--model", id], ["Read @notes.txt now", "/undo"], env)
    assert.match(stdout, /\n❯ Read @notes\.txt now\n\n/, stderr)
    assert.match(stdout, /The prompt was: Read @notes\.txt now\n/)
    assert.doesNotMatch(stdout, /inside/)
    const { messages } = JSON.parse(bodies[0] ?? "")
    assert.match(
      JSON.stringify(messages),
      /<file path=.{0,3}notes\.txt.{0,3}>\\ninside\\n<\\{1,2}\/file>\\nstill inside\\n<\/file>/,
    )
    const shown = startKarst(["sessions", "show", "last"], env, folder)
    shown.child.stdin.end()
    const ended = await shown.ended
    assert.doesNotMatch(ended.stdout, /inside/, ended.stderr)
  })

  test("answers wrong, missing and superfluous arguments of commands with texts that fit a chat", async (t) => {
    const folder = await temporaryFolder(t)
    await mkdir(join(folder, "taken"))
    const env = { KARST_HOME: join(folder, "home") }
    const { id } = await modelServer(t, [cell("const total = 15"), "It is 15."])
    const answers: [line: string, says: RegExp][] = [
      ["/resume nonsense", /There is no session "nonsense" in .*\. See: \/resume/],
      ["/resume run_1", /"run_1" is the id of a run, not of a session/],
      ["/resume a b", /Leave out "b"\. Write: \/resume \[<id>\]/],
      ["/model nonsense", /\/model names the model "nonsense", which is neither/],
      ["/show", /Say which: \/show <name>\. \/vars lists the names\./],
      ["/show totl", /There is no variable "totl"\. Did you mean \/show total\? \/vars lists them\./],
      ["/undo 3", /Leave out "3"\. Write: \/undo/],
      ["/exit now", /Leave out "now"\. Write: \/exit/],
      ["/save taken", /taken cannot be used: it is a folder\. Name a file \(EISDIR\)\./],
      ["/vars", /total {2}variable {2}number/],
    ]
    const { code, stdout, stderr } = await talk(
      folder,
      ["--model", id],
      ["Count", ...answers.map(([line]) => line)],
      env,
    )
    assert.equal(code, 0, stderr)
    const shown = stdout
      .replace(/\s+/g, " ")
      .replaceAll("variable number", "variable  number")
      .replaceAll("total variable", "total  variable")
    for (const [line, says] of answers) assert.match(shown, says, line)
    assert.doesNotMatch(stdout, /--model|sessions list/)
    const off = await talk(folder, ["--model", id, "--store", "off"], ["/resume x"], env)
    assert.match(off.stdout, /Sessions of this chat are not stored: it was started with --store off\./)
  })

  test("saves, copies and lists sessions, and goes on with one of them", async (t) => {
    const folder = await temporaryFolder(t)
    const env = { KARST_HOME: join(folder, "home") }
    const { id, bodies } = await modelServer(t, [cell("const total = 15"), "It is 15."])
    const first = await talk(folder, ["--model", id], ["Count", "/save out.json", "/fork", "/resume"], env)
    const saved: { session: string; runs: unknown[] } = JSON.parse(await readFile(join(folder, "out.json"), "utf8"))
    assert.equal(saved.runs.length, 1)
    assert.match(
      first.stdout,
      new RegExp(`You are now in a copy\\. The original:[\\s\\S]*--session\\s+${saved.session}`),
    )
    assert.match(first.stdout, /session {2,}last used {2,}first prompt\n/)
    const [, copy = ""] = /Continue: karst chat --session (s_\w+)/.exec(first.stderr) ?? []
    assert.notEqual(copy, saved.session)
    assert.match((await talk(folder, ["--session", copy], ["/show total"], env)).stdout, /\n15\n/)
    const again = await talk(folder, ["--session", saved.session], ["/show total", "More"], env)
    assert.match(again.stdout, /\n15\n/, again.stderr)
    assert.match(bodies.at(-1) ?? "", /Count/)
    const other = await talk(folder, ["--model", id], [`/resume ${saved.session.slice(0, 8)}`, "/show total"], env)
    assert.match(other.stdout, new RegExp(`session\\s+${saved.session}[\\s\\S]*\\n15\\n`), other.stderr)
  })

  test("changes the model, does not shorten a short conversation and lists skills", async (t) => {
    const folder = await temporaryFolder(t)
    await mkdir(join(folder, "skills", "charts"), { recursive: true })
    await writeFile(
      join(folder, "skills", "charts", "SKILL.md"),
      "---\nname: charts\ndescription: Draws charts.\n---\nDraw.\n",
    )
    const { id, bodies } = await modelServer(t, ["One."])
    const other = await modelServer(t, ["Two."])
    const lines = ["/skills", "Hi", `/model ${other.id}`, "Hi again", "/model nobody/nothing", "/compact", "Third"]
    const { stdout } = await talk(folder, ["--model", id, "--skill", "skills"], lines)
    assert.match(stdout, /charts {2}Draws charts\.\n/)
    assert.match(stdout, /● One\.[\s\S]*From now on: openai-compatible:[\s\S]*● Two\./)
    assert.equal(bodies.length, 1)
    assert.match(stdout, /✗ .*nobody/)
    assert.match(stdout, /The conversation is too short to be made shorter\.\n❯ Third/)
  })

  test("denies calls that need approval, and reads files that are mentioned", async (t) => {
    const folder = await temporaryFolder(t)
    const { id, bodies } = await modelServer(t, [cell("await wipe()"), "Not done."])
    const text = `import { createAgent } from ${source("agent/create-agent.ts")}
      import { fn } from ${source("runtime/bindings.ts")}
      import { jsRuntime } from ${source("runtime/js.ts")}
      const wipe = fn(() => "wiped", { approve: true })
      export const wiper = createAgent({ name: "wiper", model: ${JSON.stringify(id)}, runtime: () => jsRuntime({ wipe }) })`
    await writeFile(join(folder, "agents.ts"), text)
    await writeFile(join(folder, "note.txt"), "Remember the milk.")
    const { stdout } = await talk(folder, ["--agent", "./agents.ts"], ["Do what @note.txt says"])
    assert.match(stdout, /agent wiper · cells in this process/)
    assert.match(stdout, /no terminal is there to give it: denied\./)
    assert.match(bodies[0] ?? "", /Remember the milk\./)
  })

  test("talks with a coding CLI", async (t) => {
    const folder = await temporaryFolder(t)
    const fake = fileURLToPath(new URL("../../fixtures/fake-claude.ts", import.meta.url))
    await writeFile(join(folder, "claude"), `#!/bin/sh\nexec ${process.execPath} ${fake} "$@"\n`)
    await chmod(join(folder, "claude"), 0o755)
    const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder }
    const { stdout, stderr } = await talk(folder, ["--provider", "claude"], ["say Hello", "/undo", "/compact"], env)
    assert.match(stdout, /^karst · claude/, stderr)
    assert.match(stdout, /● Hello 1\n\n✓ done/, stdout + stderr)
    assert.match(stdout, /There is no cell to undo\./)
    assert.match(stdout, /A coding CLI shortens its conversation by itself\./)
  })
})
