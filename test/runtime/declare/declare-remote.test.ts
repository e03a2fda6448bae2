// test lane: unit, long
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { declareBindings } from "../../../src/runtime/declare/declare-bindings.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import { requires } from "../../system.ts"
import { bound } from "./declare-text.ts"
import { remoteValues } from "./remote-values.ts"

const skip = requires("typescript") ?? false
const cases = Object.entries(remoteValues)
const compiler = new URL("../../../node_modules/.bin/tsc", import.meta.url).pathname

function declared(bindings: Parameters<typeof bound>[0]): string {
  const all = bound(bindings)
  return declareBindings(all, all, true)
}

describe("the declarations of values of another process", () => {
  test("compile by themselves, and code compiles against them as it behaves", { skip }, () => {
    const folder = mkdtempSync(join(tmpdir(), "karst-declared-"))
    try {
      cases.forEach(([, { bindings, good, bad }], index) => {
        const uses = [...good.map(block), ...bad.map((code) => block(`// @ts-expect-error\n${code}`))]
        writeFileSync(join(folder, `${index}.ts`), [declared(bindings()), ...uses, "export {}"].join("\n;"))
      })
      const compilerOptions = {
        target: "esnext",
        lib: ["esnext", "dom", "dom.iterable"],
        module: "esnext",
        moduleResolution: "bundler",
        types: [],
        strict: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        allowUnusedLabels: true,
        allowUnreachableCode: true,
      }
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }))
      const { stdout, stderr } = spawnSync(compiler, ["-p", folder, "--pretty", "false"], { encoding: "utf8" })
      const named = (stdout + stderr).replace(/^(?:.*\/)?(\d+)\.ts/gm, (_, at: string) => cases[Number(at)]?.[0] ?? at)
      assert.equal(named, "")
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  for (const [title, { bindings, good, lines = [] }] of cases) {
    test(`${title}: the code that compiles runs`, async () => {
      const text = declared(bindings())
      for (const line of lines) assert.ok(text.split("\n").includes(line), `${line} is not in\n${text}`)
      await using runtime = processRuntime(bindings())
      for (const code of good) {
        const execution = await runtime.execute(block(code))
        assert.ok(execution.ok, execution.ok ? "" : `${code}: ${execution.error.message}`)
      }
    })
  }

  test("say once that members take an await and data is a copy, where there are objects of the host", () => {
    const note = /^\/\/ Objects of the host: each member takes an `await`\. Data is read as a copy/gm
    assert.equal(declared({ one: { run: () => 1 }, other: { run: () => 1 } }).match(note)?.length, 1)
    assert.doesNotMatch(declared({ rows: [{ id: 1 }] }), note)
  })
})

/** Encloses each use in a block, so that names do not collide. */
function block(code: string): string {
  return `{\n${code}\n}`
}
