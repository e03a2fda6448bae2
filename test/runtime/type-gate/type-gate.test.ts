// test lane: runtimes
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { describe, test } from "node:test"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { parseCell } from "../../../src/runtime/compiler/parse-cell.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { CellOptions } from "../../../src/runtime/runtime.ts"
import { sharedTypeChecker } from "../../../src/runtime/type-gate/typescript-checker.ts"
import { createTypeGate } from "../../../src/runtime/type-gate.ts"
import { requires } from "../../system.ts"

const skip = requires("typescript") ?? false
const block: CellOptions = { typeGate: "block" }
const hint: CellOptions = { typeGate: "hint" }

describe("the type gate", { skip }, () => {
  test("a refused cell has run nothing, and says where and what was meant", async () => {
    let calls = 0
    await using runtime = jsRuntime({ countUp: fn(() => ++calls, { signature: "() => number" }) })
    const execution = await runtime.execute("await countUp()\nawait cuontUp()", block)
    assert.ok(!execution.ok)
    assert.deepEqual(execution.error, {
      kind: "type",
      message: "line 2, column 7: Cannot find name 'cuontUp'. Did you mean 'countUp'?",
      line: 2,
      column: 7,
    })
    assert.equal(calls, 0)
    assert.deepEqual(execution.changes, { created: [], reassigned: [], removed: [] })
  })

  test("is off unless it is asked for", async () => {
    await using runtime = jsRuntime()
    const execution = await runtime.execute("1\nnothing()")
    assert.ok(!execution.ok && execution.error.kind === "throw" && execution.hints === undefined)
    const off = await runtime.execute("nothing()", { typeGate: "off" })
    assert.ok(!off.ok && off.error.kind === "throw")
  })

  test("in hint mode the cell runs, and what would have been refused is told", async () => {
    await using runtime = jsRuntime({ values: variable([1], { type: "number[]" }) })
    const execution = await runtime.execute("values.lenght", hint)
    assert.ok(execution.ok)
    assert.deepEqual(execution.hints, [
      "line 1, column 8: Property 'lenght' does not exist on type 'number[]'. Did you mean 'length'?",
    ])
  })

  test("in block mode a finding that does not refuse the cell is a hint, whether the cell succeeds or fails", async () => {
    await using runtime = jsRuntime({ settings: { port: 80 } })
    const fine = await runtime.execute("settings.prot", block)
    assert.ok(fine.ok)
    assert.match(fine.hints?.join() ?? "", /'prot' does not exist/)
    const failed = await runtime.execute("const found = settings.prot\nfound.toFixed()", block)
    assert.ok(!failed.ok && failed.error.kind === "throw")
    assert.match(failed.hints?.join() ?? "", /'prot' does not exist/)
  })

  test("a refused cell has the errors in its error and the other findings in its hints", async () => {
    await using runtime = jsRuntime({ settings: { port: 80 } })
    const refused = await runtime.execute("const found = settings.prot\nawait nothing(found)", block)
    assert.ok(!refused.ok && refused.error.kind === "type")
    assert.match(refused.error.message, /^line 2, column 7: Cannot find name 'nothing'\.$/)
    assert.match(refused.hints?.join() ?? "", /^line 1, column 24: Property 'prot' does not exist/)
  })

  test("a cell in which nothing is found has no hints", async () => {
    await using runtime = jsRuntime({ settings: { port: 80 } })
    const fine = await runtime.execute("settings.port + 1", block)
    assert.ok(fine.ok && fine.hints === undefined)
  })

  test("several errors are told together, the first ones only", async () => {
    await using runtime = jsRuntime()
    const execution = await runtime.execute(
      Array.from({ length: 8 }, (_, index) => `missing${index}()`).join("\n"),
      block,
    )
    assert.ok(!execution.ok)
    const lines = execution.error.message.split("\n")
    assert.equal(lines.length, 6)
    assert.equal(lines.at(-1), "and 3 more")
  })

  test("rules and syntax come before types", async () => {
    await using runtime = jsRuntime()
    const execution = await runtime.execute("const = nothing", block)
    assert.ok(!execution.ok && execution.error.kind === "syntax")
  })

  test("names of a cell that failed are known as far as they were made", async () => {
    await using runtime = jsRuntime()
    await runtime.execute("const early = [1]\nnull.x\nconst late = 2", block)
    const made = await runtime.execute("early.lenght", block)
    assert.ok(!made.ok && made.error.kind === "type")
    const unmade = await runtime.execute("late", block)
    assert.ok(!unmade.ok)
  })

  test("what a cell declared that was rolled back, or did not get there, is not what the name is", async () => {
    await using runtime = jsRuntime()
    assert.ok((await runtime.execute("class Pet { bark() { return 1 } }\nconst word = 'a'", block)).ok)
    const failing = "class Pet { meow() { return 1 } }\nconst word = [1]\nthrow new Error('no')"
    assert.equal((await runtime.execute(failing, { ...block, transaction: true })).ok, false)
    assert.equal((await runtime.execute("throw new Error('no')\nclass Pet { fly() { return 1 } }", block)).ok, false)
    const good = await runtime.execute("new Pet().bark() + word.toUpperCase()", block)
    assert.ok(good.ok, good.ok ? "" : good.error.message)
    const bad = await runtime.execute("new Pet().meow()", block)
    assert.ok(!bad.ok && bad.error.kind === "type")
  })

  test("names from cells that were not checked are let through", async () => {
    await using runtime = jsRuntime()
    await runtime.execute("const total = 3")
    const execution = await runtime.execute("total.anything", block)
    assert.ok(execution.ok && execution.value === undefined)
  })

  test("a function of the host that a cell has replaced by its own gives what that gives", async () => {
    for (const mode of [block, {}]) {
      await using runtime = jsRuntime({ count: fn(() => 1, { signature: "() => number" }) })
      await runtime.execute("function count() { return 2 }", mode)
      const execution = await runtime.execute("if (count()) count() + 1", block)
      assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
    }
  })

  test("after a reset earlier names are unknown again", async () => {
    await using runtime = jsRuntime()
    assert.ok((await runtime.execute("const total = 3\ntotal", block)).ok)
    await runtime.reset()
    const execution = await runtime.execute("total", block)
    assert.ok(!execution.ok && execution.error.kind === "type")
  })

  test("what the host updates is seen in its new form", async () => {
    await using runtime = jsRuntime({ data: variable<unknown>([1]) })
    assert.ok((await runtime.execute("data.length", block)).ok)
    await runtime.update({ data: new Map([["a", 1]]) })
    assert.ok((await runtime.execute("data.get('a')", block)).ok)
    const execution = await runtime.execute("data.push(1)", block)
    assert.ok(!execution.ok && execution.error.kind === "type")
  })

  test("several runtimes share one checker and never each other's names", async () => {
    await using one = jsRuntime({ alpha: 1 })
    await using other = jsRuntime({ beta: 2 })
    assert.ok((await one.execute("const mine = alpha", block)).ok)
    const [inOne, inOther] = await Promise.all([one.execute("mine + alpha", block), other.execute("mine", block)])
    assert.ok(inOne.ok)
    assert.ok(!inOther.ok && inOther.error.kind === "type")
    assert.ok((await other.execute("beta", block)).ok)
  })

  test("a checker whose process is gone is started again", async () => {
    await using runtime = jsRuntime({ rows: [1] })
    assert.ok((await runtime.execute("rows.length", block)).ok)
    const checker = await sharedTypeChecker()
    checker.close()
    const execution = await runtime.execute("rwos.length", block)
    assert.ok(!execution.ok && execution.error.kind === "type")
  })

  test("a checker that fails lets the cell through and says so", () => {
    const gate = createTypeGate()
    // The gate is not open, so it has no checker.
    const names = { declarations: "", values: new Map(), liveValues: new Map(), ambient: new Set<string>() }
    const verdict = gate.check(parseCell("nothing()"), "block", names)
    assert.equal(verdict.error, undefined)
    assert.match(verdict.hints.join(), /could not be checked/)
  })

  test("without running values the declarations alone decide", async () => {
    const gate = createTypeGate()
    await gate.open()
    const names = {
      declarations: "declare class Lamp {\n  dim(level: number): Promise<void>\n}\ndeclare const lamp: Lamp",
      values: new Map([["lamp", 1]]),
      liveValues: new Map(),
      ambient: new Set<string>(),
    }
    assert.equal(gate.check(parseCell("await lamp.dim(1)"), "block", names).error, undefined)
    assert.match(gate.check(parseCell("await lamp.dimm(1)"), "block", names).error?.message ?? "", /Did you mean 'dim'/)
  })

  test("a name that is also one of Node's is the injected one", async () => {
    class Response {
      lines = ["a"]
    }
    await using runtime = jsRuntime({ Event: { kind: "click" }, answer: new Response() })
    const execution = await runtime.execute("Event.kind + answer.lines.length", block)
    assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
  })
})

describe("the checker's process", { skip }, () => {
  const runtime = new URL("../../../src/runtime/js.ts", import.meta.url).href
  const check = `
    const { jsRuntime } = await import(${JSON.stringify(runtime)})
    const runtime = jsRuntime({ rows: [1] })
    const execution = await runtime.execute("rwos", { typeGate: "block" })
    console.log(execution.error.kind)`

  test("that cannot be had, because TypeScript is not installed, is an error with the cure", () => {
    const hide = `
    const { registerHooks } = await import("node:module")
    registerHooks({
      resolve(specifier, context, next) {
        if (!specifier.includes("typescript/")) return next(specifier, context)
        throw Object.assign(new Error("Cannot find package " + specifier), { code: "ERR_MODULE_NOT_FOUND" })
      },
    })`
    const attempt = `${hide}
    const { jsRuntime } = await import(${JSON.stringify(runtime)})
    const runtime = jsRuntime()
    console.log((await runtime.execute("1")).ok)
    await runtime.execute("1", { typeGate: "hint" }).catch((error) => console.log(error.name + ": " + error.message))`
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", attempt], { timeout: 30_000 })
    assert.match(String(printed), /^true\nMissingPackageError: .* npm install typescript@7/)
  })

  test("does not keep the program alive", () => {
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", check], { timeout: 30_000 })
    assert.equal(String(printed).trim(), "type")
  })

  test("ends with a program that is killed", async () => {
    const find = `const { execFileSync } = await import("node:child_process")
    console.log(execFileSync("ps", ["-o", "pid=", "--ppid", String(process.pid)]).toString().trim().split(/\\s+/)[0])
    setInterval(() => {}, 1000)`
    const program = spawn(process.execPath, ["--input-type=module", "-e", `${check}\n${find}`], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    let printed = ""
    for await (const text of program.stdout) {
      printed += text
      if (/type\n\d+\n/.test(printed)) break
    }
    program.kill("SIGKILL")
    if (program.exitCode === null && program.signalCode === null) await once(program, "exit")
    const server = Number(printed.trim().split("\n").at(-1))
    assert.ok(server > 0)
    while (isAlive(server)) await new Promise((resolve) => setTimeout(resolve, 10))
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
