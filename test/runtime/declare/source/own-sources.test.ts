import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { globSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { after, test } from "node:test"
import { pathToFileURL } from "node:url"
import { requires } from "../../../system.ts"
import { bound } from "../declare-text.ts"
import { declaredFromFiles } from "./fixture-bindings.ts"

const root = join(import.meta.dirname, "../../../..")
const folder = mkdtempSync(join(tmpdir(), "karst-blocks-"))
after(() => rmSync(folder, { recursive: true, force: true }))

/** The exported functions and classes of our own modules, which use most of TypeScript. */
async function ownModules(): Promise<[path: string, exported: Record<string, unknown>][]> {
  const paths = globSync("src/{core,runtime/declare,runtime/compiler,memory,stores}/**/*.ts", { cwd: root })
  const modules = await Promise.all(
    paths.map(async (path): Promise<[string, Record<string, unknown>]> => {
      const exported: object = await import(pathToFileURL(join(root, path)).href)
      return [path, Object.fromEntries(Object.entries(exported).filter(([, value]) => typeof value === "function"))]
    }),
  )
  return modules.filter(([, exported]) => Object.keys(exported).length > 0)
}

test("every function and class of our own modules is declared from its file, in a block that compiles", {
  skip: requires("typescript") ?? false,
}, async () => {
  const modules = await ownModules()
  // Describes all at once first, so that one session locates them.
  declaredFromFiles(
    bound(
      Object.fromEntries(
        modules.flatMap(([, exported], index) => {
          return Object.entries(exported).map(([name, value]) => [`${name}${index}`, value])
        }),
      ),
    ),
  )
  for (const [index, [path, exported]] of modules.entries()) {
    const text = declaredFromFiles(bound(exported))
    for (const line of text.split("\n")) assert.doesNotMatch(line, /^declare.*\/\/ inferred$/, path)
    writeFileSync(join(folder, `${index}-${basename(path, ".ts")}.d.ts`), `${text}\nexport type host_ = 0\n`)
  }
  const compilerOptions = {
    target: "esnext",
    lib: ["esnext"],
    module: "esnext",
    moduleResolution: "bundler",
    noEmit: true,
    strict: false,
    types: ["node"],
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.d.ts"] }))
  // The packages that the blocks refer to.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  const compiler = join(root, "node_modules/typescript/bin/tsc")
  execFileSync(process.execPath, [compiler, "--project", folder], { stdio: "inherit" })
})
