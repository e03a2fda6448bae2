import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { ConfigError } from "../../../src/core/errors.ts"
import { type Bindings, type MethodGuard, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import type { Runtime, RuntimeCall } from "../../../src/runtime/runtime.ts"
import { requires } from "../../system.ts"

class Vault {
  #secret = 1
  size = 2
  static reset() {}
  Inner = class {}
  get level() {
    return this.#secret
  }
  set level(to: number) {
    this.#secret = to
  }
  wipe(what: string) {
    return `${what} ${this.#secret}`
  }
}

describe("a guard", () => {
  test("that names no method of the object is refused where it is written", () => {
    const wrong: [unknown, object, RegExp][] = [
      [new Vault(), { wype: {} }, /guard\.wype.*no such method/],
      [new Vault(), { "#secret": {} }, /no such method/],
      [new Vault(), { toString: {} }, /no such method/],
      [new Vault(), { constructor: {} }, /no such method/],
      [new Vault(), { reset: {} }, /no such method/],
      [new Vault(), { level: {} }, /getter or setter/],
      [new Vault(), { size: {} }, /no method/],
      [new Vault(), { Inner: {} }, /no method/],
      [new Vault(), { [Symbol.iterator]: {} }, /symbol/],
      [5, { wipe: {} }, /object with methods/],
      [null, { wipe: {} }, /object with methods/],
    ]
    for (const [value, guard, message] of wrong) {
      assert.throws(
        () => variable(value, { guard: guard as MethodGuard }),
        (error) => {
          assert.ok(error instanceof ConfigError)
          assert.match(error.message, message)
          return true
        },
      )
    }
    variable(Vault, { guard: { reset: { approve: true } } })
    variable(new Vault(), { guard: {} })
  })

  test("of what is data is refused by runtimes that would copy it, and taken by jsRuntime", async () => {
    for (const [data, method] of [
      [[1], "push"],
      [new Map(), "clear"],
      [new Date(), "setTime"],
    ] as const) {
      const bindings = { data: variable<unknown>(data, { guard: { [method]: {} } as MethodGuard }) }
      await jsRuntime(bindings).close()
      assert.throws(() => processRuntime(bindings), /"data" is data/)
      assert.throws(() => pythonRuntime(bindings), /"data" is data/)
    }
  })

  const elsewhere: [string, string | undefined, (bindings: Bindings) => Runtime][] = [
    ["processRuntime", undefined, (bindings) => processRuntime(bindings)],
    ["pythonRuntime", requires("python"), (bindings) => pythonRuntime(bindings)],
  ]
  for (const [name, skip, open] of elsewhere) {
    test(`holds in ${name} however the cell came by the object`, { skip }, async () => {
      const vault = new Vault()
      class Safe {
        inner = vault
        open() {
          return vault
        }
      }
      const guard = { wipe: { approve: true, maxCalls: 3, timeoutMs: 1000 } }
      await using runtime = open({ safe: new Safe(), find: () => vault, vault: variable(vault, { guard }) })
      const calls: RuntimeCall[] = []
      const code =
        runtime.language === "python"
          ? "found = find()\n[v.wipe('x') for v in [vault, found, safe.inner, safe.open()]]"
          : "const found = await find(), opened = await safe.open()\n" +
            ";[await vault.wipe('x'), await found.wipe('x'), await safe.inner.wipe('x'), await opened.wipe('x')]"
      const execution = await runtime.execute(code, {
        callGate(call, next) {
          calls.push(call)
          return next()
        },
      })
      assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
      const wiped = calls.filter(({ method }) => method === "wipe")
      assert.deepEqual(
        wiped.map(({ binding, approve, maxCalls, timeoutMs }) => [binding, approve, maxCalls, timeoutMs]),
        Array.from({ length: 4 }, () => ["vault", true, 3, 1000]),
      )
    })

    test(`is kept in ${name} when the name gets another object, which must have the methods`, { skip }, async () => {
      await using runtime = open({ vault: variable(new Vault(), { guard: { wipe: { approve: true } } }) })
      await runtime.update({ vault: new Vault() })
      let asked: RuntimeCall["approve"] = false
      const code = runtime.language === "python" ? "vault.wipe('x')" : "await vault.wipe('x')"
      await runtime.execute(code, {
        callGate(call, next) {
          asked = call.approve
          return next()
        },
      })
      assert.equal(asked, true)
      await assert.rejects(runtime.update({ vault: { size: 1, other() {} } }), /guard\.wipe/)
    })
  }

  test("holds in a process for a method that a cell reads off its object", async () => {
    const vault = { wipe: () => "wiped" }
    await using runtime = processRuntime({ vault: variable(vault, { guard: { wipe: { approve: true } } }) })
    const calls: RuntimeCall[] = []
    await runtime.execute("const wipe = vault.wipe; await wipe()", {
      callGate(call, next) {
        calls.push(call)
        return next()
      },
    })
    assert.deepEqual(
      calls.map(({ binding, method, approve }) => [binding, method, approve]),
      [["vault", "wipe", true]],
    )
  })
})
