// test lane: newcomer, long
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { promisify } from "node:util"
import { installInto } from "../../scripts/pack.ts"
import { packedPackage, userEnvironment } from "./packed-package.ts"

// Exact versions, so that a release of one of them changes no result.
const tools = [
  "@arethetypeswrong/cli@0.18.5",
  "@opentelemetry/api@1.9.1",
  "@types/node@24.19.2",
  "node@26.10.0",
  "publint@0.3.25",
  "tsx@4.23.15",
  "typescript5@npm:typescript@5.9.3",
  "typescript7@npm:typescript@7.0.2",
  "vitest@5.1.0",
]

const program = `
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
const tasks: string[] = []
const model = scriptedModel(["\`\`\`ts\\ntasks.push('packed')\\n\`\`\`", "Added."])
const result = await createAgent({ model, runtime: jsRuntime({ tasks }) }).run("Add a task")
console.log(result.status, tasks)
`

const commonJs = `
const { createAgent, jsRuntime } = require("karst")
const { scriptedModel } = require("karst/models")
const tasks = []
const model = scriptedModel(["\`\`\`ts\\ntasks.push('required')\\n\`\`\`", "Added."])
const run = createAgent({ model, runtime: jsRuntime({ tasks }) }).run("Add a task")
run.then((result) => console.log(result.status, tasks))
`

const vitestFile = `
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { expect, test } from "vitest"
test("an agent and a child process", async () => {
  const tasks: string[] = []
  const model = scriptedModel(["\`\`\`ts\\ntasks.push('tested')\\n\`\`\`", "Added."])
  await createAgent({ model, runtime: jsRuntime({ tasks }) }).run("Add a task")
  expect(tasks).toEqual(["tested"])
  await using runtime = processRuntime({ n: 1 })
  expect(await runtime.execute("n + 1")).toMatchObject({ ok: true, value: 2 })
})
`

describe("the package in a project", () => {
  let folder: string
  let bare: string
  let project: string
  let tarball: string
  const nodes = new Map<string, string>()

  before(
    async () => {
      folder = await mkdtemp(join(tmpdir(), "karst-installed-"))
      bare = join(folder, "bare")
      project = join(folder, "project")
      tarball = await packedPackage()
      await installInto(bare, [tarball])
      await mkdir(project)
      const manifest = { private: true, type: "module", allowScripts: { node: true } }
      await writeFile(join(project, "package.json"), JSON.stringify(manifest))
      await installInto(project, [tarball, ...tools])
      nodes.set("24", process.execPath).set("26", join(project, "node_modules/node/bin/node"))
      await writeFile(join(project, "program.ts"), program)
      await writeFile(join(project, "program.cjs"), commonJs)
      await writeFile(join(project, "agent.test.ts"), vitestFile)
      await writeFile(join(project, "types.ts"), specifiers().map(exportAll).join("\n"))
      await writeFile(join(bare, "imports.mjs"), importsEach())
    },
    { timeout: 600_000 },
  )

  after(() => rm(folder, { recursive: true }))

  for (const version of ["24", "26"]) {
    describe(`on Node ${version}`, () => {
      test("every public module can be imported while no optional package is installed", async () => {
        const printed = await run(version, [join(bare, "imports.mjs")], bare)
        assert.deepEqual(JSON.parse(printed), specifiers())
      })

      test("an ES module runs an agent", async () => {
        assert.equal(await run(version, ["program.ts"]), "done [ 'packed' ]\n")
      })

      test("a CommonJS module gets it by require() and runs an agent", async () => {
        assert.equal(await run(version, ["program.cjs"]), "done [ 'required' ]\n")
      })

      test("tsx runs an agent", async () => {
        const tsx = "node_modules/tsx/dist/cli.mjs"
        assert.equal(await run(version, [tsx, "program.ts"]), "done [ 'packed' ]\n")
        assert.equal(await run(version, [tsx, "program.cjs"]), "done [ 'required' ]\n")
      })

      test("vitest runs an agent and a child process", async () => {
        assert.match(await run(version, ["node_modules/vitest/vitest.mjs", "run"]), /1 passed/)
      })
    })
  }

  for (const typescript of ["5.9", "7"]) {
    for (const resolution of ["nodenext", "bundler"]) {
      test(`TypeScript ${typescript} accepts all types under "${resolution}" on Node 26, libraries checked`, async () => {
        const tsc = `node_modules/typescript${typescript[0]}/bin/tsc`
        const module = resolution === "bundler" ? "esnext" : "nodenext"
        const options = ["--module", module, "--moduleResolution", resolution, "--target", "es2024", "--types", "node"]
        assert.equal(await run("26", [tsc, "--noEmit", "--strict", ...options, "types.ts"]), "")
      })
    }
  }

  test("the types of each module declare exactly the values that it exports", async () => {
    const values = `
      const modules = ${JSON.stringify(specifiers())}
      const names = await Promise.all(modules.map(async (name) => [name, Object.keys(await import(name)).sort()]))
      console.log(JSON.stringify(names))`
    const exported = JSON.parse(await run("24", ["--input-type=module", "-e", values])) as [string, string[]][]
    for (const [specifier, names] of exported) assert.deepEqual(declaredValues(specifier), names, specifier)
  })

  test("publint finds nothing", async () => {
    const printed = await run("24", ["node_modules/publint/src/cli.js", tarball, "--strict"])
    assert.match(printed, /All good!/)
  })

  test("are-the-types-wrong finds nothing for ES modules", async () => {
    const cli = "node_modules/@arethetypeswrong/cli/dist/index.js"
    const printed = await run("24", [cli, "--profile", "esm-only", "--format", "json", tarball])
    const { entrypoints } = JSON.parse(printed).analysis as { entrypoints: Record<string, object> }
    assert.deepEqual(Object.keys(entrypoints).length, specifiers().length + 1)
  })

  test("brings the pages of the documentation and the examples, and no images", () => {
    const packed = join(project, "node_modules/karst")
    assert.ok(globSync("docs/getting-started.md", { cwd: packed }).length === 1)
    assert.deepEqual(
      globSync("examples/[0-9]*.ts", { cwd: packed }).sort(),
      globSync("examples/[0-9]*.ts", { cwd: join(import.meta.dirname, "../..") }).sort(),
    )
    assert.deepEqual(globSync("{docs,examples}/**/*.{svg,png,jpg,gif}", { cwd: packed }), [])
  })

  function declaredValues(specifier: string): string[] {
    const { exports } = manifest()
    const target = exports[specifier.replace("karst", ".")] as { types: string }
    const text = readFileSync(join(project, "node_modules/karst", target.types), "utf8")
    const forwarded = [...text.matchAll(/^export \{ (.*) \} from /gm)].flatMap(([, list = ""]) => list.split(", "))
    const own = [...text.matchAll(/^export declare \w+ (\w+)/gm)].map(([, name = ""]) => name)
    const values = forwarded.filter((name) => !name.startsWith("type ")).map((name) => name.replace(/.* as /, ""))
    return [...new Set([...values, ...own])].sort()
  }

  async function run(version: string, args: string[], cwd = project): Promise<string> {
    const node = nodes.get(version) ?? ""
    const env = { ...userEnvironment(folder, node), NO_COLOR: "1" }
    const { stdout } = await promisify(execFile)(node, args, { cwd, env }).catch((error) => {
      throw new Error(`${args.join(" ")}: ${error.stdout}${error.stderr}`)
    })
    return stdout
  }
})

interface Manifest {
  exports: Record<string, string | { types: string }>
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"))
}

/** What others can import, except for package.json. */
function specifiers(): string[] {
  const { exports } = manifest()
  return Object.keys(exports).flatMap((path) => (path === "./package.json" ? [] : path.replace(".", "karst")))
}

function exportAll(specifier: string, index: number): string {
  return `export * as module${index} from "${specifier}"`
}

function importsEach(): string {
  return `const names = ${JSON.stringify(specifiers())}
for (const name of names) await import(name)
console.log(JSON.stringify(names))`
}
