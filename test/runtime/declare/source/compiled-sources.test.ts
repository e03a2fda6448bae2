import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { registerHooks } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { pathToFileURL } from "node:url"
import { noAgentDescriptions } from "../../../../src/runtime/declare/declare-agent.ts"
import { declareBindings } from "../../../../src/runtime/declare/declare-bindings.ts"
import { noSourceLookup } from "../../../../src/runtime/declare/source/source-lookup.ts"
import fc from "../../../property.ts"
import { requires } from "../../../system.ts"
import { bound } from "../declare-text.ts"
import { declaredFromFiles, homeBindings, homeDeclarations } from "./fixture-bindings.ts"

const fixture = join(import.meta.dirname, "fixture")
const root = mkdtempSync(join(tmpdir(), "karst-sources-"))
after(() => rmSync(root, { recursive: true, force: true }))

const skip = requires("typescript") ?? false
const options = [
  "--target",
  "es2022",
  "--lib",
  "esnext",
  "--module",
  "nodenext",
  "--rewriteRelativeImportExtensions",
  "--skipLibCheck",
]

/** Copies the fixture to `name/src` and compiles it to `name/out`. */
function compile(name: string, ...more: string[]): { source: string; script: string } {
  const [source, out] = [join(root, name, "src"), join(root, name, "out")]
  cpSync(fixture, source, { recursive: true })
  writeFileSync(join(root, name, "package.json"), '{ "type": "module" }')
  const compiler = join(import.meta.dirname, "../../../../node_modules/typescript/bin/tsc")
  const types = ["--types", "node", "--typeRoots", join(import.meta.dirname, "../../../../node_modules/@types")]
  const files = ["--rootDir", source, "--outDir", out, join(source, "home.ts")]
  execFileSync(process.execPath, [compiler, ...options, ...types, ...more, ...files], { cwd: join(root, name) })
  return { source, script: join(out, "home.js") }
}

async function declaredFrom(script: string): Promise<string> {
  return declaredFromFiles(homeBindings(await import(pathToFileURL(script).href)))
}

function inferred(bindings: ReturnType<typeof bound>): string {
  return declareBindings(bindings, bindings, false, noAgentDescriptions, noSourceLookup)
}

describe("the types of compiled code", { skip }, () => {
  test("are found through a source map in a file", async () => {
    assert.equal(await declaredFrom(compile("external", "--sourceMap").script), homeDeclarations)
  })

  test("are found through a source map in the script, even if the source is gone", async () => {
    const { source, script } = compile("inline", "--inlineSourceMap", "--inlineSources")
    rmSync(join(source, "home.ts"))
    assert.equal(await declaredFrom(script), homeDeclarations)
  })

  test("are found where a loader compiles the source and keeps its address", async () => {
    const { source, script } = compile("loader", "--inlineSourceMap")
    const compiled = (path: string) => {
      const text = readFileSync(path, "utf8").replaceAll('.js"', '.ts"')
      return text.replace(/(?<=base64,)\S+/, (map) => {
        const { sources, ...rest } = JSON.parse(Buffer.from(map, "base64").toString())
        const names = sources.map((each: string) => each.replace(/^.*\//, ""))
        return Buffer.from(JSON.stringify({ ...rest, sources: names })).toString("base64")
      })
    }
    const address = pathToFileURL(join(source, "home.ts")).href
    const hooks = registerHooks({
      load: (url, context, next) =>
        url === address ? { format: "module", source: compiled(script), shortCircuit: true } : next(url, context),
    })
    try {
      assert.equal(await declaredFrom(join(source, "home.ts")), homeDeclarations)
    } finally {
      hooks.deregister()
    }
  })

  test("without a source map are found in the declarations beside the script", async () => {
    const text = await declaredFrom(compile("declarations", "--declaration").script)
    assert.match(text, /^ {2}dim\(to: Level, fade\?: Fade\): Promise<void>$/m)
    assert.match(text, /^declare function findLights\(where: Room, limit\?: number\): Promise<Light\[\]>$/m)
    assert.match(text, /^interface Room \{$/m)
    assert.match(text, /^ {2}find\(name: string, strict\?: boolean\): Light\[\]$/m)
    assert.doesNotMatch(text, /watts: number/)
  })

  test("without a source map and declarations are inferred, with the comments", async () => {
    const text = await declaredFrom(compile("bare").script)
    assert.match(text, /^ {2}dim\(to\?: unknown, fade\?: unknown\): Promise<any>$/m)
    assert.match(text, /^\/\*\* Finds lights. \*\/\ndeclare function findLights\(where\?: unknown, limit\?: number\)/m)
  })

  test("are inferred if the source has other names than the script", async () => {
    const { source, script } = compile("changed", "--sourceMap")
    const path = join(source, "home.ts")
    writeFileSync(path, readFileSync(path, "utf8").replace("function findLights(where:", "function findLights(place:"))
    assert.match(await declaredFrom(script), /^declare function findLights\(where\?: unknown, limit\?: number\)/m)
  })
})

let count = 0

/** Imports a module, then changes its file. */
async function changedModule(change: (path: string) => void, extra = "") {
  const path = join(root, `changed${count++}.ts`)
  const code = "export class Task { done: boolean = false; finish(at: Date, by?: string): void {} }\n"
  writeFileSync(path, `${code}export function open(title: string): Task { return new Task() }\n${extra}`)
  const { Task, open } = await import(pathToFileURL(path).href)
  change(path)
  const bindings = bound({ task: new Task(), open })
  return { text: declaredFromFiles(bindings), inferred: inferred(bindings) }
}

test("a file that has changed since it was loaded is not used", async () => {
  const longer = await changedModule((path) => appendFileSync(path, "export const more = 1"))
  assert.equal(longer.text, longer.inferred)
  const gone = await changedModule((path) => rmSync(path))
  assert.equal(gone.text, gone.inferred)
  const same = await changedModule(() => {})
  assert.match(same.text, /finish\(at: Date, by\?: string\): void/)
})

test("whatever a file or a source map contains, the declarations are those of the file or inferred", async () => {
  const text = fc.string({ maxLength: 60 })
  const samples = fc.sample(fc.record({ content: text, map: text }), 6)
  for (const { content, map } of samples) {
    const address = `data:application/json;base64,${Buffer.from(map).toString("base64")}`
    const changed = await changedModule((path) => writeFileSync(path, content), `//# sourceMappingURL=${address}\n`)
    assert.equal(changed.text, changed.inferred)
    const mapped = await changedModule(() => {}, `//# sourceMappingURL=${address}\n`)
    assert.match(mapped.text, /finish\(at: Date, by\?: string\): void/)
  }
})
