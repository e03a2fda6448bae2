import assert from "node:assert/strict"
import { readFile, stat, symlink } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { ConfigError } from "karst"
import { loadConfig, type TrustQuestion, trustConfig } from "karst/config"
import { testProject } from "./project-folder.ts"

const waysToImport = {
  "by an absolute path": 'import model from "FOLDER/names.cjs"\nexport default { model }',
  "by an address": 'import model from "file://FOLDER/names.cjs"\nexport default { model }',
  "by a name of package.json": 'import model from "#names"\nexport default { model }',
  "with a query": 'import model from "./names.cjs?a=1"\nexport default { model }',
  "by a template": "const { default: model } = await import(`./names.cjs`)\nexport default { model }",
  "by import and require": 'import model = require("./names.cjs")\nexport = { default: { model } }',
  "from a script that is not strict": 'with ({}) {}\nmodule.exports = { default: { model: require("./names.cjs") } }',
}

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

  for (const [how, config] of Object.entries(waysToImport)) {
    test(`is confirmed again after a change of a file that it imports ${how}`, async (t) => {
      const { folder, env, write } = await strictProject(t, {
        "project/package.json": { imports: { "#names": "./names.cjs" } },
        "project/names.cjs": 'module.exports = "a/b"',
      })
      const file = config.includes("with (") ? "karst.config.js" : "karst.config.ts"
      await write({ [`project/${file}`]: config.replaceAll("FOLDER", folder) })
      const questions: TrustQuestion[] = []
      const confirm = (question: TrustQuestion) => questions.push(question) > 0
      const load = () => loadConfig({ cwd: folder, env, confirm })
      assert.equal((await load()).config.model, "a/b")
      await load()
      assert.equal(questions.length, 1)
      await write({ "project/names.cjs": 'module.exports = "a/c"' })
      await load()
      assert.deepEqual(
        questions.map(({ reason }) => reason),
        ["new", "changed"],
      )
    })
  }

  test("that is a link is trusted with the files that the linked file imports", async (t) => {
    const { folder, env, write } = await strictProject(t, {
      "elsewhere/shared.ts": 'import { model } from "./names.ts"\nexport default { model }',
      "elsewhere/names.ts": 'export const model = "a/b"',
    })
    const elsewhere = join(folder, "../elsewhere")
    await symlink(join(elsewhere, "shared.ts"), join(folder, "karst.config.ts"))
    const questions: TrustQuestion[] = []
    const confirm = (question: TrustQuestion) => questions.push(question) > 0
    await loadConfig({ cwd: folder, env, confirm })
    assert.deepEqual(questions[0]?.files, [join(elsewhere, "names.ts"), join(elsewhere, "shared.ts")])
    await write({ "elsewhere/names.ts": 'export const model = "a/c"' })
    await loadConfig({ cwd: folder, env, confirm })
    assert.equal(questions[1]?.reason, "changed")
  })

  test("that imports a file by a computed path is refused, because the file was not trusted", async (t) => {
    const { folder, env } = await strictProject(t, {
      "project/karst.config.ts": 'const name = "./hid" + "den.ts"\nexport default (await import(name)).default',
      "project/hidden.ts": "globalThis.karstHiddenRan = true\nexport default {}",
    })
    const load = loadConfig({ cwd: folder, env, confirm: () => true })
    await assert.rejects(load, /karst\.config\.ts imports ".*hidden\.ts", which is not among the trusted files/)
    assert.ok(!("karstHiddenRan" in globalThis))
  })

  for (const file of ["karst.config.ts", "names.ts", "names.mjs", "names.cjs", "names.json", "karst.config.json"]) {
    test(`is not loaded if ${file} is replaced while the question is open`, async (t) => {
      const isJsonConfig = file === "karst.config.json"
      const name = isJsonConfig || file === "karst.config.ts" ? "names.ts" : file
      const type = name.endsWith("json") ? ' with { type: "json" }' : ""
      const { folder, env, write } = await strictProject(t, {
        [`project/${isJsonConfig ? file : "karst.config.ts"}`]: isJsonConfig
          ? "{}"
          : `import "./${name}"${type}\nexport default {}`,
        [`project/${name}`]: name.endsWith("json") ? "{}" : "globalThis.karstNames = {}",
      })
      const confirm = async () => {
        await write({
          [`project/${file}`]: file.endsWith("json") ? '{ "model": "a/b" }' : "globalThis.karstReplacedRan = true",
        })
        return true
      }
      await assert.rejects(loadConfig({ cwd: folder, env, confirm }), (error) => {
        assert.ok(error instanceof ConfigError)
        assert.match(error.message, new RegExp(`${file}" has changed since it was trusted`))
        return true
      })
      assert.ok(!("karstReplacedRan" in globalThis))
    })
  }

  test("that is a device or a folder is refused before it is read", async (t) => {
    const { folder, env } = await strictProject(t)
    await symlink("/dev/zero", join(folder, "karst.config.json"))
    await assert.rejects(loadConfig({ cwd: folder, env, confirm: () => true }), /karst\.config\.json" is not a file/)
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
