// test lane: unit, long
import assert from "node:assert/strict"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { testProject } from "../../config/project-folder.ts"
import { karst, startKarst } from "../karst.ts"

async function project(t: TestContext) {
  const { folder, home } = await testProject(t)
  const env = { KARST_HOME: home, KARST_TRUST_CONFIG: "1" }
  return { folder, home, env, command: (...args: string[]) => karst(args, env, folder) }
}

describe("an empty list", () => {
  test("of sessions says where it looked and what stores one; with a filter, that none matches", async (t) => {
    const { folder, home, command } = await project(t)
    const cure = 'karst run "…" and karst chat store one.'
    const { code, stdout, stderr } = await command("sessions", "list")
    assert.deepEqual([code, stdout, stderr], [0, "", `karst: There are no sessions in ${home}. ${cure}\n`])
    const other = await command("sessions", "list", "--store", "archive")
    assert.equal(other.stderr, `karst: There are no sessions in ${join(folder, "archive")}. ${cure}\n`)
    const database = await command("sessions", "list", "--store", "sqlite:karst.db")
    assert.equal(database.stderr, `karst: There are no sessions in sqlite:karst.db. ${cure}\n`)
    const filtered = await command("sessions", "list", "--search", "invoice", "--agent", "ada")
    assert.equal(
      filtered.stderr,
      `karst: None of the sessions in ${home} matches --agent ada --search invoice. Leave it out to list all.\n`,
    )
    assert.equal((await command("sessions", "list", "--json")).stdout, "[]\n")
    const last = await command("resume", "last")
    assert.deepEqual([last.code, last.stderr], [2, `karst: There are no sessions in ${home}. ${cure}\n`])
  })

  test("of runs names the store, without a password, and what adds one", async (t) => {
    const { command } = await project(t)
    const { code, stderr } = await command("runs", "list", "--store", "sqlite:runs.db")
    assert.equal(code, 0)
    assert.match(
      stderr,
      /^karst: There are no runs in sqlite:runs\.db\. A program adds one by engine\.submit\(\); .*\n$/,
    )
    const filtered = await command("runs", "list", "--store", "sqlite:runs.db", "--status", "failed,waiting")
    assert.match(filtered.stderr, /^karst: None of the runs in sqlite:runs\.db matches --status failed,waiting\./)
  })

  test("of models names the files of the configuration and the command that sets one", async (t) => {
    const { folder, home, command } = await project(t)
    const { stdout, stderr } = await command("models", "list")
    const files = `${join(folder, "karst.config.ts")} or ${join(home, "config.ts")}`
    const start = `karst: There are no models in ${files}. Set the default one: karst models set default openai/gpt-5.2.`
    assert.ok(stderr.startsWith(start), stderr)
    assert.match(stdout, /^claude strongest/m)
    assert.equal((await command("models", "set", "default", "openai/gpt-5.2")).code, 0)
    assert.equal((await command("models", "list")).stderr, "")
  })

  test("of sessions and skills in a chat says the same in one sentence", async (t) => {
    const { folder, env } = await project(t)
    const talk = async (...args: string[]) => {
      const { child, ended } = startKarst(["chat", "--model", "ollama/x", ...args], env, folder)
      child.stdin.end("/resume\n/skills\n")
      return (await ended).stdout
    }
    const stored = await talk()
    assert.match(stored, /There are no stored sessions\. Your next prompt stores this one\./)
    assert.match(stored, /There are no skills\. Give a folder of skills, karst chat --skill <folder>/)
    assert.match(
      await talk("--store", "off"),
      /Sessions of this chat are not stored: it was started with\s+--store off\./,
    )
  })
})
