import assert from "node:assert/strict"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { createAgent } from "karst"
import { createLocalClient } from "karst/config"
import { scriptedModel } from "karst/models"
import { codingAgent } from "karst/providers"
import { listSessions } from "karst/sessions"
import { karst } from "../cli/karst.ts"

describe("the address of a database as an archive", () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-test-"))
  })
  after(() => rm(folder, { recursive: true }))

  test("is refused with the cure and without its password, instead of becoming a folder of that name", async () => {
    const isRefused = ({ message }: Error) =>
      /is the address .* and not a folder or a store\. .*redisStore\(/.test(message) && !message.includes("s3cret")
    const agent = createAgent({ model: scriptedModel(["Hello."]) })
    await using client = await createLocalClient({ config: { agents: { greeter: { model: "ollama/x" } } } })
    for (const archive of ["redis://:s3cret@host", "postgres://ada:s3cret@host/db", "sqlite:sessions.db"]) {
      await assert.rejects(async () => await agent.session({ archive }), isRefused)
      await assert.rejects(async () => await codingAgent({ provider: "claude" }).session({ archive }), isRefused)
      await assert.rejects(async () => await client.session({ archive }), isRefused)
      await assert.rejects(async () => await listSessions(archive), isRefused)
    }
    const archive = "postgres://ada:s3cret@host/db"
    await assert.rejects(
      async () => await createLocalClient({ config: { archive } }),
      ({ message }: Error) =>
        /is the address .* and not a folder or a store\. .*sqlite:karst\.db/.test(message) &&
        !message.includes("s3cret"),
    )
  })

  test("is refused by the command: in --store, KARST_ARCHIVE and the configuration", async () => {
    const store = "postgres://ada:s3cret@host/db"
    for (const [args, env] of [
      [["run", "Hi", "--model", "ollama/x", "--store", store], {}],
      [["sessions", "list", "--store", store], {}],
      [["runs", "list", "--store", store], {}],
      [["sessions", "list"], { KARST_ARCHIVE: store }],
    ] as const) {
      const { code, stderr } = await karst([...args], env, folder)
      assert.deepEqual([code === 0, stderr.includes("s3cret")], [false, false], stderr)
      assert.match(stderr, /is not a store\. Say .*redis:\/\/host:6379|is the address .* and not a folder/)
    }
    assert.deepEqual(await readdir(folder), [])
  })
})
