import assert from "node:assert/strict"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { ConfigError } from "karst"
import { loadConfig, type TrustQuestion, trustConfig } from "karst/config"
import { testProject } from "./project-folder.ts"

describe("a configuration file", () => {
  test("that is new is refused without confirmation, and its code does not run", async (t) => {
    const { folder, env } = await strictProject(t, {
      "project/karst.config.ts": "globalThis.karstTestRan = true\nexport default {}",
    })
    await assert.rejects(loadConfig({ cwd: folder, env }), (error) => {
      assert.ok(error instanceof ConfigError)
      assert.equal(error.code, "untrusted-config")
      assert.deepEqual(error.details, { file: join(folder, "karst.config.ts"), reason: "new" })
      assert.match(error.message, /is new to Karst, and it can run code.*KARST_TRUST_CONFIG=1/)
      return true
    })
    assert.ok(!("karstTestRan" in globalThis))
  })

  test("is confirmed once, and again after a change of it or of a file that it imports", async (t) => {
    const { folder, env, home, write } = await strictProject(t, {
      "project/karst.config.ts": 'import { model } from "./names"\nexport default { model }',
      "project/names.ts": 'export const model = "a/b"',
    })
    const questions: TrustQuestion[] = []
    const confirm = (question: TrustQuestion) => questions.push(question) > 0
    const load = () => loadConfig({ cwd: folder, env, confirm })
    await load()
    await load()
    const files = [join(folder, "karst.config.ts"), join(folder, "names.ts")]
    assert.deepEqual(questions, [{ file: files[0], reason: "new", files }])
    await write({ "project/names.ts": 'export const model = "a/c"' })
    await load()
    assert.deepEqual(questions.at(-1), { file: files[0], reason: "changed", files })
    assert.equal((await stat(join(home, "trusted.json"))).mode & 0o777, 0o600)
  })

  test("that is not confirmed is not remembered", async (t) => {
    const { folder, env } = await strictProject(t, { "project/karst.config.json": {} })
    for (const _ of [1, 2]) {
      await assert.rejects(loadConfig({ cwd: folder, env, confirm: () => false }), /It was not confirmed/)
    }
  })

  test("of the user needs confirmation as well", async (t) => {
    const { folder, env } = await strictProject(t, { "home/config.json": {} })
    await assert.rejects(loadConfig({ cwd: folder, env }), /home\/config\.json" is new to Karst/)
  })

  test("is trusted by trustConfig", async (t) => {
    const { folder, env, home } = await strictProject(t, { "project/karst.config.json": { model: "a/b" } })
    await trustConfig(join(folder, "karst.config.json"), { env })
    assert.equal((await loadConfig({ cwd: folder, env })).config.model, "a/b")
    assert.ok((await readFile(join(home, "trusted.json"), "utf8")).includes("karst.config.json"))
  })

  test("is refused if the record of trust is damaged", async (t) => {
    const { folder, env } = await strictProject(t, { "project/karst.config.json": {}, "home/trusted.json": "{ no" })
    await assert.rejects(loadConfig({ cwd: folder, env }), /is new to Karst/)
  })
})

async function strictProject(...[t, files]: Parameters<typeof testProject>) {
  const project = await testProject(t, files)
  return { ...project, env: { ...project.env, KARST_TRUST_CONFIG: undefined } }
}
