import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"

// Earlier versions of Node 24 print this warning when they load SQLite; the newest one does not.
const program = `
  const { getBuiltinModule } = process
  let loads = 0
  process.getBuiltinModule = (name) => {
    if (name !== "node:sqlite") return getBuiltinModule(name)
    loads++
    process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning")
    return getBuiltinModule(name)
  }
  import { createAgent } from "karst"
  import { scriptedModel } from "karst/models"
  import { sqliteStore } from "karst/stores"
  const before = process.emitWarning
  const agent = createAgent({ model: scriptedModel(() => "Hi.") })
  await using session = await agent.session({ id: "ada", archive: "archive" })
  await session.send("Hi")
  await using store = sqliteStore("store.db")
  await store.get("key")
  if (loads === 0) throw new Error("SQLite was loaded in another way, which prints the warning")
  if (process.emitWarning !== before) throw new Error("process.emitWarning was not restored")
  process.emitWarning("of the program", "ExperimentalWarning")
`

test("an archive folder and a SQLite store print no warning of Node, and hide none of the program", async () => {
  const folder = await mkdtemp(join(tmpdir(), "karst-sqlite-"))
  try {
    const sources = ["karst", "karst/models", "karst/stores"].map((name) => [name, import.meta.resolve(name)] as const)
    const code = sources.reduce((text, [name, url]) => text.replace(`"${name}"`, JSON.stringify(url)), program)
    const flags = ["--conditions=karst-source", "--input-type=module", "--eval", code]
    const { stderr, status } = spawnSync(process.execPath, flags, { cwd: folder, encoding: "utf8" })
    assert.equal(status, 0, stderr)
    assert.match(stderr, /ExperimentalWarning: of the program/)
    assert.doesNotMatch(stderr, /SQLite/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
