import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type Bindings, variable } from "../../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../../src/runtime/js.ts"
import type { CellOptions, RuntimeCall } from "../../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../../retrieve-any.ts"

class Light {
  static made = 0
  #on = false
  brightness = 100
  listeners = new Set<() => void>()
  onDim: ((to: number) => unknown) | undefined
  dim(to: number) {
    this.brightness = to
    return this
  }
  get on() {
    return this.#on
  }
  set on(on: boolean) {
    this.#on = on
  }
  wipe(why = "") {
    this.brightness = 0
    return `wiped ${this.#on} ${why}`
  }
  wipeTwice() {
    return [this.wipe(), this.wipe()]
  }
  async later() {
    return this
  }
  *levels() {
    yield this.brightness
    yield 0
  }
  same(other: unknown) {
    return other === this
  }
}

class Lamp extends Light {}

/** Runs a cell on a guarded lamp. Returns its value and the calls that passed the gate. */
async function lit(code: string, more: Bindings = {}, options: CellOptions = {}) {
  const lamp = new Lamp()
  const calls: RuntimeCall[] = []
  const guard = { wipe: { approve: true }, levels: {} }
  await using runtime = jsRuntime({ lamp: variable(lamp, { guard }), ...more })
  const execution = await runtime.execute(code, {
    callGate(call, next) {
      calls.push(call)
      return next()
    },
    ...options,
  })
  assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
  return { value: execution.value, lamp, runtime, names: calls.map(({ binding, method }) => `${binding}.${method}`) }
}

describe("a guarded object", () => {
  test("has its guarded methods pass the gate, inherited ones too, and they give Promises", async () => {
    const { value, names, lamp } = await lit("const made = lamp.wipe('x'); [made instanceof Promise, await made]")
    assert.deepEqual(value, [true, "wiped false x"])
    assert.deepEqual(names, ["lamp.wipe"])
    assert.equal(lamp.brightness, 0)
  })

  test("is itself in everything else: class, fields, accessors, #private, other methods, keys", async () => {
    const code = `
lamp.on = true
lamp.brightness = 7
const before = [lamp instanceof Lamp, lamp.constructor === Lamp, lamp.on, lamp.brightness, Object.keys(lamp), "wipe" in lamp]
lamp.dim(30)
delete lamp.onDim
;[...before, lamp.brightness, "onDim" in lamp, lamp.dim === lamp.dim, lamp.wipe === lamp.wipe, lamp.wipe.name]`
    const { value, names, lamp } = await lit(code)
    assert.deepEqual(value, [
      ...[true, true, true, 7, ["brightness", "listeners", "onDim"], true],
      ...[30, false, true, true, "wipe"],
    ])
    assert.equal(lamp.on, true)
    assert.deepEqual(names, [])
  })

  test("stays guarded when a method gives it back, at once or later", async () => {
    const code = "await lamp.dim(5).wipe(); const same = await lamp.later(); await same.wipe(); same === lamp"
    const { value, names } = await lit(code)
    assert.equal(value, true)
    assert.deepEqual(names, ["lamp.wipe", "lamp.wipe"])
  })

  test("calls its own methods without the gate", async () => {
    const { value, names } = await lit("lamp.wipeTwice().length")
    assert.equal(value, 2)
    assert.deepEqual(names, [])
  })

  test("gives the iterator of a guarded generator after an await", async () => {
    const { value, names } = await lit("[...await lamp.levels()]")
    assert.deepEqual(value, [100, 0])
    assert.deepEqual(names, ["lamp.levels"])
  })

  test("is the real one for functions of the host and for its own methods, and comes back guarded", async () => {
    const given: unknown[] = []
    const more = { take: (...things: unknown[]) => void given.push(...things), give: () => given[0] }
    const { value, lamp, names } = await lit("await take(lamp); [lamp.same(lamp), (await give()) === lamp]", more)
    assert.deepEqual(given, [lamp])
    assert.deepEqual(value, [true, true])
    assert.deepEqual(names, ["take.undefined", "give.undefined"])
  })

  test("is given back by retrieve as the host's own, also under another name, and its methods as they are", async () => {
    const lamp = new Lamp()
    await using runtime = jsRuntime({ lamp: variable(lamp, { guard: { wipe: {} } }) })
    await runtime.execute("const alias = lamp, wipe = lamp.wipe, dim = lamp.dim")
    assert.equal(await runtime.retrieve("lamp"), lamp)
    assert.equal(await retrieveAny(runtime, "alias"), lamp)
    assert.equal(await retrieveAny(runtime, "wipe"), lamp.wipe)
    assert.equal(await retrieveAny(runtime, "dim"), lamp.dim)
    const execution = await runtime.execute("lamp")
    assert.ok(execution.ok && execution.value === lamp)
    assert.equal((await runtime.names()).find(({ name }) => name === "lamp")?.type, "Lamp")
  })

  test("cannot be rid of its guard from a cell", async () => {
    const attempts = [
      "lamp.wipe = () => 1",
      "delete lamp.wipe",
      "Object.defineProperty(lamp, 'wipe', { value: 1 })",
      "Object.assign(lamp, { wipe: 1 })",
    ]
    for (const code of attempts) {
      const { value } = await lit(`let said; try { ${code} } catch (error) { said = error.message }; said`)
      assert.match(String(value), /lamp\.wipe is guarded/)
    }
    const { names } = await lit("const { wipe } = lamp; await wipe(); await Reflect.get(lamp, 'wipe').call({})")
    assert.deepEqual(names, ["lamp.wipe", "lamp.wipe"])
  })

  test("may be a literal, frozen or not, a map, a class or a function with methods", async () => {
    const runs: string[] = []
    const literal = {
      count: 0,
      wipe() {
        runs.push("literal")
        return ++this.count
      },
    }
    const frozen = Object.freeze({ wipe: () => runs.push("frozen"), plain: 1 })
    const map = new Map([["a", 1]])
    class Store {
      rows = 0
      static wipe() {
        runs.push("static")
      }
    }
    const service = Object.assign(() => "called", { wipe: () => runs.push("function") })
    const guard = { wipe: {} }
    const calls: string[] = []
    await using runtime = jsRuntime({
      literal: variable(literal, { guard }),
      frozen: variable(frozen, { guard }),
      map: variable(map, { guard: { clear: {} } }),
      Store: variable(Store, { guard }),
      service: variable(service, { guard }),
    })
    const code = `
for (const each of [literal, frozen, Store, service]) await each.wipe()
const seen = [map.get("a"), map.size, [...map].length, frozen.plain, Object.keys(frozen), service(), new Store() instanceof Store]
await map.clear()
;[...seen, map.size, literal.count]`
    const execution = await runtime.execute(code, {
      callGate(call, next) {
        calls.push(`${call.binding}.${call.method}`)
        return next()
      },
    })
    assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
    assert.deepEqual(execution.value, [1, 1, 1, 1, ["wipe", "plain"], "called", true, 0, 1])
    assert.deepEqual(calls, ["literal.wipe", "frozen.wipe", "Store.wipe", "service.wipe", "map.clear"])
    assert.deepEqual(runs, ["literal", "frozen", "static", "function"])
  })

  test("is guarded anew when it gets another value, and leads nowhere after a reset", async () => {
    const [first, second] = [new Lamp(), new Lamp()]
    const calls: string[] = []
    const options: CellOptions = {
      callGate(call, next) {
        calls.push(String(call.method))
        return next()
      },
    }
    await using runtime = jsRuntime({ lamp: variable(first, { guard: { wipe: {} } }), kept: [] as unknown[] })
    await runtime.update({ lamp: second })
    await runtime.execute("kept.push(lamp); await lamp.wipe()", options)
    assert.deepEqual([first.brightness, second.brightness, calls], [100, 0, ["wipe"]])
    await assert.rejects(runtime.update({ lamp: { wipe: 5 } }), /guard\.wipe.*no method/)
    await runtime.reset()
    const execution = await runtime.execute("await kept[0].wipe()", options)
    assert.ok(!execution.ok)
    assert.match(execution.error.message, /reset or closed/)
  })

  test("is rolled back with the cell", async () => {
    const lamp = { wipe: () => 1, level: 3 }
    await using runtime = jsRuntime({ lamp: variable(lamp, { guard: { wipe: {} } }) })
    const execution = await runtime.execute("lamp.level = 9; throw new Error('no')", { transaction: true })
    assert.ok(!execution.ok)
    assert.deepEqual(execution.notRolledBack, [])
    assert.equal(lamp.level, 3)
  })

  test("is named by its name where something of it cannot be rolled back", async () => {
    const lamp = new Light()
    await using runtime = jsRuntime({ lamp: variable(lamp, { guard: { wipe: {} } }), room: { lamps: [lamp] } })
    const execution = await runtime.execute("lamp.brightness = 9; throw new Error('no')", { transaction: true })
    assert.ok(!execution.ok)
    assert.equal(lamp.brightness, 100)
    assert.deepEqual(
      execution.notRolledBack?.map(({ name, path }) => `${name}${path ?? ""}`),
      ["lamp"],
    )
  })

  test("goes along into a fork, guarded there too", async () => {
    await using runtime = jsRuntime({ lamp: variable(new Lamp(), { guard: { wipe: {} } }) })
    await runtime.execute("const alias = lamp")
    const fork = await runtime.fork?.()
    const calls: string[] = []
    const execution = await fork?.execute("await alias.wipe(); alias === lamp", {
      callGate(call, next) {
        calls.push(String(call.method))
        return next()
      },
    })
    assert.ok(execution?.ok && execution.value === true)
    assert.deepEqual(calls, ["wipe"])
    await fork?.close()
  })

  test("is declared with Promises where it gives them", async () => {
    await using runtime = jsRuntime({
      lamp: variable(new Lamp(), { guard: { wipe: {} } }),
      box: variable({ level: 1, wipe: (why: string) => why.length }, { guard: { wipe: {} } }),
      told: variable(new Lamp(), { type: "Light", guard: { wipe: {} } }),
    })
    const text = await runtime.describe()
    assert.match(text, /declare const lamp: \{ wipe\(why\?: string\): Promise<any> \} & Lamp$/m)
    assert.match(text, /declare const box: \{ level: number; wipe\(why: string\): Promise<any> \}/)
    assert.match(text, /declare const told: \{ wipe\(why\?: string\): Promise<any> \} & Light$/m)
  })
})
