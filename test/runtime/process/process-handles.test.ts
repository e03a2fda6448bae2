// test lane: runtimes
import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import { classType } from "../../../src/runtime/bindings.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import type { CallGate, RuntimeCall } from "../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { cellValue, errorOf } from "../cell-results.ts"

class Light {
  brightness = 50
  readonly name: string
  #on = true
  constructor(name = "Lamp") {
    this.name = name
  }
  dim(to: number): this {
    this.brightness = to
    return this
  }
  async later(): Promise<string> {
    return `${this.name} later`
  }
  get on(): boolean {
    return this.#on
  }
  set on(value: boolean) {
    this.#on = value
  }
  fail(): never {
    throw new RangeError("broken")
  }
}

test("methods, fields, getters and setters of a host object work with await", async () => {
  const light = new Light()
  await using runtime = processRuntime({ light })
  const code = `
    await light.dim(20)
    const seen = [await light.brightness, await light.name, await light.on, await light.later()]
    light.on = false
    light.brightness = 7
    seen.push(await light.on, await light.brightness)
    seen`
  assert.deepEqual(await cellValue(runtime, code), [20, "Lamp", true, "Lamp later", false, 7])
  assert.deepEqual([light.brightness, light.on], [7, false])
})

test("a handle is the very object, wherever it goes and comes back", async () => {
  const light = new Light()
  const given: unknown[] = []
  await using runtime = processRuntime({ light, lights: [light], give: (value: unknown) => given.push(value) })
  const code =
    "await give(light); await give([light]); const mine = { light }; [light === lights[0], (await light.dim(1)) === light]"
  assert.deepEqual(await cellValue(runtime, code), [true, true])
  assert.equal(given[0], light)
  assert.equal((given[1] as unknown[])[0], light)
  assert.equal(await runtime.retrieve("light"), light)
  assert.equal(((await retrieveAny(runtime, "mine")) as { light: Light }).light, light)
})

test("instances inside data are handles of their own, and the data is a copy", async () => {
  const rooms = new Map([["hall", { lights: [new Light("one"), new Light("two")] }]])
  await using runtime = processRuntime({ rooms })
  assert.equal(await cellValue(runtime, "await rooms.get('hall').lights[1].name"), "two")
  assert.equal(await cellValue(runtime, "rooms.set('new', 1); rooms.size"), 2)
  assert.equal(rooms.size, 1)
})

test("what a clone would flatten crosses as a handle", async () => {
  class Rows extends Array<number> {}
  const values = {
    url: new URL("https://karst.test/a?b=c"),
    headers: new Headers({ a: "b" }),
    controller: new AbortController(),
    emitter: new EventEmitter(),
    rows: Rows.from([1, 2]),
    weak: new WeakMap(),
    proxied: new Proxy({ inside: 5 }, {}),
    accessor: {
      get now() {
        return 42
      },
    },
    driver: { state: 1, next: () => 2 },
    blob: new Blob(["text"]),
  }
  await using runtime = processRuntime(values)
  const code = `
    [await url.hostname, await headers.get('a'), await controller.signal.aborted, await emitter.listenerCount('x'),
     await rows.length, await proxied.inside, await accessor.now, await driver.next(), await driver.state, await blob.text()]`
  assert.deepEqual(await cellValue(runtime, code), ["karst.test", "b", false, 0, 2, 5, 42, 2, 1, "text"])
  for (const [name, value] of Object.entries(values)) assert.equal(await retrieveAny(runtime, name), value, name)
})

test("members of members are one await away", async () => {
  const agent = { runtime: { retrieve: async (name: string) => `value of ${name}` }, deep: { er: { value: 3 } } }
  await using runtime = processRuntime({ agent: { ...agent, run() {} } })
  assert.equal(await cellValue(runtime, "await agent.runtime.retrieve('x')"), "value of x")
  assert.equal(await cellValue(runtime, "await agent.deep.er.value"), 3)
})

test("method calls pass the gate with binding and method", async () => {
  const calls: RuntimeCall[] = []
  const gate: CallGate = (call, next) => {
    calls.push(call)
    return next()
  }
  await using runtime = processRuntime({ light: new Light(), make: () => new Light("made") })
  await cellValue(runtime, "await light.dim(3); await (await make()).dim(4); await light.brightness", {
    callGate: gate,
  })
  assert.deepEqual(
    calls.map(({ binding, method, args }) => [binding, method, args]),
    [
      ["light", "dim", [3]],
      ["make", undefined, []],
      ["make", "dim", [4]],
    ],
  )
})

test("a gate can refuse a method, and it is not called", async () => {
  const light = new Light()
  await using runtime = processRuntime({ light })
  const call: CallGate = async () => {
    throw new Error("denied")
  }
  assert.match(errorOf(await runtime.execute("await light.dim(1)", { callGate: call })).message, /denied/)
  assert.equal(light.brightness, 50)
})

test("an error of a method keeps its class", async () => {
  await using runtime = processRuntime({ light: new Light() })
  const code = "await light.fail().catch((error) => [error instanceof RangeError, error.message])"
  assert.deepEqual(await cellValue(runtime, code), [true, "broken"])
})

test("an assignment that fails fails its cell, at its line", async () => {
  await using runtime = processRuntime({ frozen: Object.freeze(new Light()) })
  const error = errorOf(await runtime.execute("await frozen.name\nfrozen.brightness = 1\nawait frozen.name"))
  assert.match(error.message, /Cannot set frozen.brightness: it is read-only/)
  assert.equal(error.line, 2)
})

test("a handle answers undefined for then, so it can be awaited and returned", async () => {
  await using runtime = processRuntime({ light: new Light() })
  assert.equal(await cellValue(runtime, "light.then"), undefined)
  assert.equal(await cellValue(runtime, "(await light) === light"), true)
})

test("a handle looks like one when it is shown, and says what to do when it is misused", async () => {
  await using runtime = processRuntime({ light: new Light() })
  const execution = await runtime.execute("const b = light.brightness; console.log(light, b); await b; light")
  assert.ok(execution.ok)
  assert.equal(execution.stdout, "[Light on the host] [light.brightness: await it]\n")
  assert.equal(execution.preview, "[Light on the host]")
  assert.match(errorOf(await runtime.execute("light.brightness + 1")).message, /`await` before it/)
  assert.match(errorOf(await runtime.execute("JSON.stringify({ light })")).message, /cannot be written as JSON/)
})

test("a member that was not awaited does not cross by itself", async () => {
  await using runtime = processRuntime({ light: new Light() })
  await runtime.execute("const wrong = [light.brightness]; 1")
  await assert.rejects(
    retrieveAny(runtime, "wrong"),
    /wrong\[0\] is light.brightness, which was not awaited: write `await` before it/,
  )
})

test("members that come later are found", async () => {
  const session = new Light()
  await using runtime = processRuntime({ session, login: () => Object.assign(session, { user: "Ada" }) })
  assert.equal(await cellValue(runtime, "await session.user"), undefined)
  assert.equal(await cellValue(runtime, "await login(); await session.user"), "Ada")
})

test("an iterable on the host is iterated with for await, and closed when left", async () => {
  let closed = false
  class Cursor {
    async *[Symbol.asyncIterator]() {
      try {
        for (let n = 1; ; n++) yield { n, light: new Light(`l${n}`) }
      } finally {
        closed = true
      }
    }
  }
  await using runtime = processRuntime({ cursor: new Cursor(), headers: new Headers({ a: "b" }) })
  const code =
    "const seen = []; for await (const { n, light } of cursor) { seen.push(await light.name); if (n === 3) break } seen"
  assert.deepEqual(await cellValue(runtime, code), ["l1", "l2", "l3"])
  assert.ok(closed)
  assert.deepEqual(await cellValue(runtime, "const all = []; for await (const pair of headers) all.push(pair); all"), [
    ["a", "b"],
  ])
})

test("a disposable on the host is disposed with await using", async () => {
  let disposed = 0
  const open = () => ({ value: 1, [Symbol.dispose]: () => void disposed++ })
  await using runtime = processRuntime({ open })
  assert.equal(await cellValue(runtime, "{ await using file = await open(); await file.value }"), undefined)
  assert.equal(disposed, 1)
})

test("a class that was bound makes instances on the host", async () => {
  await using runtime = processRuntime({ Light: classType(Light) })
  assert.equal(await cellValue(runtime, "const made = await new Light('cell'); await made.name"), "cell")
  const made = await retrieveAny(runtime, "made")
  assert.ok(made instanceof Light)
})

test("a function inside a value is called on the host", async () => {
  await using runtime = processRuntime({ handlers: [(x: number) => x + 1] })
  assert.equal(await cellValue(runtime, "await handlers[0](1)"), 2)
})

test("a live database is queried through its handle", async () => {
  const db = new DatabaseSync(":memory:")
  db.exec("create table t(a); insert into t values (1), (2)")
  await using runtime = processRuntime({ db })
  const code = "const statement = await db.prepare('select sum(a) as total from t'); await statement.get()"
  assert.deepEqual(await cellValue(runtime, code), { total: 3 })
  db.close()
})

test("a handle that nobody holds is let go of on the host", async () => {
  const collected: string[] = []
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const registry = new FinalizationRegistry<string>((name) => {
    collected.push(name)
    release()
  })
  const make = () => {
    const light = new Light()
    registry.register(light, "made")
    return light
  }
  await using runtime = processRuntime({ make })
  await cellValue(runtime, "await make(); 1")
  const setFlags = "const { setFlagsFromString } = await import('node:v8'); setFlagsFromString('--expose-gc')"
  await cellValue(runtime, `${setFlags}; const collect = (await import('node:vm')).runInNewContext('gc'); 1`)
  const { setFlagsFromString } = await import("node:v8")
  setFlagsFromString("--expose-gc")
  const collect = (await import("node:vm")).runInNewContext("gc") as () => void
  // Garbage collection takes a while on both sides, so several rounds are needed.
  for (let round = 0; round < 100 && collected.length === 0; round++) {
    await cellValue(runtime, "collect(); await new Promise((go) => setTimeout(go, 5))")
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await released
  assert.deepEqual(collected, ["made"])
})

test("handles are declared async", async () => {
  await using runtime = processRuntime({
    light: new Light(),
    Light: classType(Light),
    driver: { state: 1, next: () => 2 },
  })
  const text = await runtime.describe()
  assert.match(text, /interface Light \{/)
  assert.match(text, /dim\(to: number\): Promise<this>/)
  assert.match(text, /get brightness\(\): Promise<number>\n {2}set brightness\(value: number\)/)
  assert.match(text, /declare const Light: \{[\s\S]*new \(name\?: \w+\): Promise<Light>/)
  assert.match(text, /declare const light: Light/)
  assert.match(text, /declare const driver: \{[\s\S]*next\(\): Promise<any>/)
})

test("default values and ??= of a host object's fields fail with the cure instead of being ignored", async () => {
  const store = Object.assign(new Light(), { note: undefined as string | undefined, inner: { size: null } })
  await using runtime = processRuntime({ store, same: (value: unknown) => value })
  for (const code of [
    'const { note = "none" } = store; await note',
    'let note; ({ note = "none" } = store); await note',
    "const { inner: { size = 3 } } = store; await size",
    'const { note = "none" } = await same(store); await note',
    'store.note ??= "none"',
    'store.note ||= "none"',
    "store.brightness &&= 0",
    "store.inner.size ??= 3",
  ]) {
    assert.match(errorOf(await runtime.execute(code)).message, /store.* is on the host.*write `await`/i, code)
  }
  assert.deepEqual([store.note, store.inner.size, store.brightness], [undefined, null, 50])
})

test("default values and ??= of a cell's own objects may hold members that are awaited later", async () => {
  await using runtime = processRuntime({ light: new Light("Lamp") })
  const code = `
    const { name = light.name } = {}
    const memo = {}
    memo.name ??= light.name
    memo.later ??= light.later()
    memo.later ??= light.later()
    const { brightness = 1 } = { brightness: await light.brightness }
    ;[await name, await memo.name, await memo.later, brightness]`
  assert.deepEqual(await cellValue(runtime, code), ["Lamp", "Lamp", "Lamp later", 50])
})

test("deleting a field of a host object fails with the cure", async () => {
  await using runtime = processRuntime({ light: Object.assign(new Light(), { extra: { a: 1 } }) })
  assert.match(
    errorOf(await runtime.execute("delete light.name")).message,
    /light\.name is on the host and cannot be deleted/,
  )
  assert.match(
    errorOf(await runtime.execute("delete light.extra.a")).message,
    /light\.extra\.a is on .* assign the copy/,
  )
})

test("a large copy that was written back is not named as unchecked", async () => {
  const rows = Array.from({ length: 30_000 }, (_, row) => `row ${row} ${"x".repeat(40)}`)
  await using runtime = processRuntime({ light: Object.assign(new Light(), { rows }) })
  const ran = await runtime.execute(
    "const all = await light.rows; all[0] = 'first'; light.rows = all; await light.name",
  )
  assert.deepEqual([ran.ok, ran.hints, rows[0]], [true, undefined, "first"])
})

test("static members of base classes are declared", async () => {
  class Base {
    static kind = "base"
    static make() {
      return new Lamp()
    }
    run() {}
  }
  class Lamp extends Base {
    static own() {}
  }
  class Spot extends Lamp {
    static override make() {
      return new Spot()
    }
  }
  class Rows extends Array {}
  await using runtime = processRuntime({ Base, Lamp, Spot, Rows })
  const text = await runtime.describe()
  const declared = (name: string) => /\{[\s\S]*?\}/.exec(text.split(`declare const ${name}: `)[1] ?? "")?.[0] ?? ""
  assert.match(declared("Lamp"), /own\(\)[\s\S]*get kind\(\): Promise<string>[\s\S]*make\(\)/)
  assert.match(declared("Spot"), /make\(\)[\s\S]*own\(\)[\s\S]*get kind\(\)/)
  assert.equal(declared("Spot").split("make()").length, 2)
  assert.doesNotMatch(declared("Rows"), /from|isArray/)
})

test("a class without a constructor is declared with that of its base class", async () => {
  class Spot extends Light {}
  await using runtime = processRuntime({ Light, Spot })
  assert.match(await runtime.describe(), /declare const Spot: \{ new \(name\?: \w+\): Promise<Spot> \}/)
})
