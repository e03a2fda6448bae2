import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, before, describe, test } from "node:test"
import { importModule } from "../../src/config/import-module.ts"

describe("importModule", () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-import-"))
  })
  after(() => rm(folder, { recursive: true }))

  test("runs enums, in the module and in what it imports", async () => {
    const exported = await load("enums", {
      "package.json": `{ "type": "module" }`,
      "main.ts": `import { Shade } from "./shade.ts"\nenum State { Off, On }\nexport const light = { state: State.On, shade: Shade.Warm }`,
      "shade.ts": `export enum Shade { Cold = "cold", Warm = "warm" }`,
    })
    assert.deepEqual(exported.light, { state: 1, shade: "warm" })
  })

  test("runs enums in a project that does not say what it is", async () => {
    const main = "enum State { Off, On }\nexport const light = State.On"
    assert.equal((await load("untyped", { "package.json": "{}", "main.ts": main })).light, 1)
    assert.equal((await load("alone", { "main.ts": "enum State { Off, On }\nexports.light = State.On" })).light, 1)
  })

  test("runs import and export in a project that is CommonJS, with require and __dirname", async () => {
    const exported = await load("commonjs", {
      "package.json": `{ "type": "commonjs" }`,
      "main.ts": `import { two } from "./two"\nconst path = require("node:path")\nexport const sum = two + 1\nexport const base: string = path.basename(__dirname)`,
      "two.ts": `export const two: number = 2`,
    })
    assert.equal(exported.sum, 3)
    assert.equal(exported.base, "commonjs")
  })

  test("runs require and exports in a project that is CommonJS", async () => {
    const exported = await load("required", {
      "package.json": `{ "type": "commonjs" }`,
      "main.ts": `const { two } = require("./two.ts")\nenum E { A = 4 }\nexports.sum = two + E.A`,
      "two.ts": `import fs = require("node:fs")\nexport = { two: fs.existsSync(__filename) ? 2 : 0 }`,
    })
    assert.equal(exported.sum, 6)
  })

  test("finds a TypeScript file by the name of what it is compiled to, and in a folder", async () => {
    const exported = await load("endings", {
      "package.json": `{ "type": "module" }`,
      "main.ts": `export * from "./a.js"\nexport * from "./b"`,
      "a.ts": "export const a: number = 1",
      "b/index.ts": "export const b: number = 2",
    })
    assert.deepEqual({ ...exported }, { a: 1, b: 2 })
  })

  test("gives the exports of compiled CommonJS by name, with its default export", async () => {
    const exported = await load(
      "compiled",
      {
        "package.json": "{}",
        "main.js": `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = 1; exports.light = 2`,
      },
      "main.js",
    )
    assert.equal(exported.default, 1)
    assert.equal(exported.light, 2)
  })

  const mistakes: [what: string, files: Record<string, string>, says: RegExp][] = [
    ["throws", { "main.ts": '\nthrow new Error("no database")' }, /^main\.ts:2 could not be loaded: no database$/],
    [
      "imports a module that throws",
      { "main.ts": 'import "./lib/db.ts"', "lib/db.ts": '\n\nthrow new Error("no database")' },
      /^main\.ts could not be loaded: no database \(at .*\/lib\/db\.ts:3\)$/,
    ],
    ["is not complete", { "main.ts": "const a = 1\nexport const b = " }, /^main\.ts:2 could not be loaded: /],
    [
      "imports a file that does not exist",
      { "main.ts": 'import "node:fs"\nimport { db } from "./db.ts"' },
      /^main\.ts:2 could not be loaded: Cannot find module '.*db\.ts' imported from/,
    ],
    [
      "imports a package that is not installed",
      { "main.ts": 'import "node:fs"\nimport { x } from "@no/such-package/part"' },
      /^main\.ts:2 could not be loaded: Cannot find package '@no\/such-package' .*\. Install it: npm install @no\/such-package$/,
    ],
  ]
  for (const [what, files, says] of mistakes) {
    test(`tells the line and the cause if a module ${what}`, async () => {
      await assert.rejects(load(what.replaceAll(" ", "-"), { "package.json": '{ "type": "module" }', ...files }), {
        name: "ConfigError",
        message: says,
      })
    })
  }

  async function load(name: string, files: Record<string, string>, main = "main.ts") {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name, file)), { recursive: true })
      await writeFile(join(folder, name, file), text)
    }
    return await importModule(join(folder, name, main), main)
  }
})
