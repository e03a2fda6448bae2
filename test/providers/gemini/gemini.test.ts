// test lane: clis
import assert from "node:assert/strict"
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type GeminiOptions, gemini } from "karst/providers"

/** The settings that Gemini CLI sees, and the user's settings afterwards, which were `own` before. */
async function settingsFor(options: GeminiOptions, own: object) {
  const home = await mkdtemp(join(tmpdir(), "karst-gemini-"))
  const path = join(home, ".gemini", "settings.json")
  await mkdir(join(home, ".gemini"))
  await writeFile(path, JSON.stringify(own))
  const program = join(home, "gemini")
  await writeFile(
    program,
    `#!/bin/sh\ncp "$GEMINI_CLI_HOME/.gemini/settings.json" "$HOME/seen.json"\n${place}${answer}`,
    {
      mode: 0o755,
    },
  )
  await gemini({ ...options, program, cwd: home, env: { HOME: home } }).run("x")
  const read = (file: string) => readFile(file, "utf8")
  const seen = JSON.parse(await read(join(home, "seen.json")))
  const after = JSON.parse(await read(path))
  const where = await read(join(home, "place"))
  const made = await read(join(home, ".gemini", "projects.json"))
  await rm(home, { recursive: true })
  return { seen, after, where, made }
}

const place = 'echo made > "$GEMINI_CLI_HOME/.gemini/projects.json"; printf %s "$GEMINI_CLI_HOME" > "$HOME/place"\n'
const answer = `echo '${JSON.stringify({ type: "result", status: "success", stats: {} })}'\n`

describe("Gemini CLI is started", () => {
  test("with the user's settings and ours over them, which are gone afterwards", async () => {
    const own = { general: { vimMode: true }, mcpServers: { theirs: { command: "x" } } }
    const { seen, after } = await settingsFor({ mcpServers: { ours: { url: "http://127.0.0.1:1" } } }, own)
    assert.equal(seen.general.vimMode, true)
    assert.equal(seen.mcpServers.ours.httpUrl, "http://127.0.0.1:1")
    assert.deepEqual(after, own)
  })

  test("in the folder of its turn, which is removed also where this program is killed", async () => {
    const { where, made } = await settingsFor({}, {})
    assert.equal(made, "made\n", "what it has made is brought home first")
    assert.match(where, /karst-cli-\w+\/home$/)
    await assert.rejects(access(where))
  })

  test("without its cleaning up, which takes conversations away that another turn has just begun", async () => {
    const { seen } = await settingsFor({}, { general: { sessionRetention: { enabled: true, maxAge: "30d" } } })
    assert.equal(seen.general.sessionRetention.enabled, false)
  })
})
