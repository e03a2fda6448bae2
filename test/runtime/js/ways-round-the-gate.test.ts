import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { describe, test } from "node:test"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { RuntimeCall } from "../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../retrieve-any.ts"

class Hub {
  #light: Light
  inner: Light
  constructor(light: Light) {
    this.#light = light
    this.inner = light
    Object.defineProperty(this, "fixed", { value: light })
  }
  get light() {
    return this.#light
  }
  find() {
    return this.#light
  }
}

const self: unique symbol = Symbol.for("self")

class Light {
  wiped = 0
  level = 100
  name = "lamp"
  me: Hub = new Hub(this)
  list: unknown[] = [this]
  map = new Map<unknown, unknown>([["me", this]])
  set = new Set<unknown>([this])
  nested = { deep: [{ light: this }], error: Object.assign(new Error("x"), { light: this }) }
  frozen = Object.freeze({ light: this, list: Object.freeze([this]) })
  empty: unknown[] = []
  actions = { wipe: this.wipe, run: () => this.wipe() };
  [self] = this
  onDim: ((light: unknown) => unknown) | undefined
  handlers: { [name: string]: (...given: unknown[]) => unknown } = {}
  wipe() {
    this.wiped++
    return "wiped"
  }
  get getter() {
    return { light: this }
  }
  listed() {
    return [this]
  }
  hub() {
    return this.me
  }
  async later() {
    return { light: this }
  }
  thenable() {
    return { then: (resolve: (light: unknown) => void) => resolve(this) }
  }
  closure() {
    return () => this
  }
  *generated() {
    yield this
    yield [this]
  }
  async *streamed() {
    yield this
  }
  [Symbol.iterator]() {
    return [this as Light][Symbol.iterator]()
  }
  each(visit: (light: unknown, all: unknown[]) => unknown) {
    return visit.call(this, this, [this])
  }
  visit(options: { done(light: unknown): unknown; nested?: { done(light: unknown): unknown } }) {
    return [options.done(this), options.nested?.done(this)]
  }
  error() {
    throw Object.assign(new Error("failed"), { light: this })
  }
  reject() {
    return Promise.reject(Object.assign(new Error("failed"), { light: this }))
  }
  add(what: unknown) {
    this.empty.push(what)
  }
  toJSON() {
    return { light: this.name }
  }
  dim(to: number) {
    this.level = to
    this.onDim?.(this)
    return this
  }
  emit(name: string, ...given: unknown[]) {
    return this.handlers[name]?.(...given)
  }
}

/** Each row is an ordinary way to reach the method. Each must pass the gate; if the gate refuses, nothing is wiped. */
const ways: [string, string][] = [
  ["its own name", "await light.wipe()"],
  ["a second name", "await alias.wipe()"],
  ["a computed key", "await light['wi' + 'pe']()"],
  ["destructuring", "const { wipe } = light; await wipe()"],
  ["Reflect.get and Reflect.apply", "await Reflect.apply(Reflect.get(light, 'wipe'), light, [])"],
  ["call", "await light.wipe.call(light)"],
  ["apply with another this", "await light.wipe.apply({}, [])"],
  ["bind", "await light.wipe.bind(null)()"],
  ["a field of a field", "await light.me.inner.wipe()"],
  ["a field that is a fixed property", "await light.me.fixed.wipe()"],
  ["a getter of a field", "await light.me.light.wipe()"],
  ["a method of a field", "await light.me.find().wipe()"],
  ["an array", "await light.list[0].wipe()"],
  ["at()", "await light.list.at(-1).wipe()"],
  ["find()", "await light.list.find((each) => each.wipe).wipe()"],
  ["for of", "for (const each of light.list) await each.wipe()"],
  ["a spread array", "await [...light.list][0].wipe()"],
  ["Array.from", "await Array.from(light.list)[0].wipe()"],
  ["concat", "await [].concat(light.list)[0].wipe()"],
  ["slice", "await light.list.slice()[0].wipe()"],
  ["flatMap", "await Promise.all(light.list.flatMap((each) => [each.wipe()]))"],
  ["entries()", "for (const [, each] of light.list.entries()) await each.wipe()"],
  ["a Map", "await light.map.get('me').wipe()"],
  ["the values of a Map", "for (const each of light.map.values()) await each.wipe()"],
  ["the entries of a Map", "for (const [, each] of light.map) await each.wipe()"],
  ["forEach of a Map", "const found = []; light.map.forEach((each) => found.push(each)); await found[0].wipe()"],
  ["a copied Map", "await new Map(light.map).get('me').wipe()"],
  ["a Set", "for (const each of light.set) await each.wipe()"],
  ["a spread Set", "await [...light.set][0].wipe()"],
  ["a union of Sets", "await [...light.set.union(new Set([1]))][0].wipe()"],
  ["nested data", "await light.nested.deep[0].light.wipe()"],
  ["a property of an error", "await light.nested.error.light.wipe()"],
  ["a frozen object", "await light.frozen.light.wipe()"],
  ["a frozen array in it", "await light.frozen.list[0].wipe()"],
  ["a symbol", "await light[Symbol.for('self')].wipe()"],
  ["the method in a field", "await light.actions.wipe.call(light)"],
  ["the method renamed on the object", "light.erase = light.wipe; await light.erase()"],
  ["the result of a getter", "await light.getter.light.wipe()"],
  ["an array that a method gives", "await light.listed()[0].wipe()"],
  ["an instance that a method gives", "await light.hub().inner.wipe()"],
  ["what a Promise gives", "await (await light.later()).light.wipe()"],
  ["then()", "await light.later().then(({ light }) => light.wipe())"],
  ["an object that can be awaited", "await (await light.thenable()).wipe()"],
  ["a function that a method gives", "await light.closure()().wipe()"],
  ["a generator", "for (const each of light.generated()) await (each[0] ?? each).wipe()"],
  ["a spread generator", "await [...light.generated()][0].wipe()"],
  ["an async generator", "for await (const each of light.streamed()) await each.wipe()"],
  ["its iterator", "for (const each of light) await each.wipe()"],
  ["a helper of an iterator", "await light.generated().map((each) => each).next().value.wipe()"],
  ["the argument of a callback", "await light.each((each) => each.wipe())"],
  ["an array given to a callback", "await light.each((_, all) => all[0].wipe())"],
  ["this of a callback", "await light.each(function () { return this.wipe() })"],
  ["the argument of a callback in an object", "await light.visit({ done: (each) => each.wipe() })[0]"],
  [
    "the argument of a callback deeper in it",
    "await light.visit({ done() {}, nested: { done: (each) => each.wipe() } })[1]",
  ],
  [
    "a listener that was assigned",
    "let made; light.onDim = (each) => { made = each.wipe(); made.catch(() => {}) }; light.dim(1); await made",
  ],
  ["a thrown error", "try { light.error() } catch (error) { await error.light.wipe() }"],
  ["a rejection", "await light.reject().catch((error) => error.light.wipe())"],
  ["a rejection that is awaited", "try { await light.reject() } catch (error) { await error.light.wipe() }"],
  ["a spread copy", "await { ...light }.me.inner.wipe()"],
  ["Object.assign", "await Object.assign({}, light).list[0].wipe()"],
  ["Object.values", "for (const each of Object.values(light.frozen)) if (each.wipe) await each.wipe()"],
  ["Object.entries", "await Object.fromEntries(Object.entries(light)).me.inner.wipe()"],
  ["descriptors", "await Object.getOwnPropertyDescriptor(light, 'list').value[0].wipe()"],
  ["all descriptors", "await Object.getOwnPropertyDescriptors(light.frozen).light.value.wipe()"],
  ["Object.create", "await Object.create(light).wipe()"],
  ["another guarded object", "await room.light.wipe()"],
  ["another guarded object and back", "await light.room.light.wipe()"],
  ["an empty array that is filled later", "const kept = light.empty; light.add(light); await kept[0].wipe()"],
  ["a function of the host", "await (await give()).wipe()"],
  ["data that a function of the host gives", "await (await giveData()).items[0].wipe()"],
  ["a callback that a function of the host calls", "await visit((each) => each.wipe())"],
  ["the method itself as a callback", "await light.each(light.wipe)"],
  ["the method as a callback in an object", "await light.visit({ done: light.wipe })[0]"],
  ["the method as a handler that the object calls", "light.handlers.x = light.wipe; await light.emit('x')"],
  ["the method as a function of the host calls it", "await visit(light.wipe)"],
  ["super", "await ({ __proto__: light, go() { return super.wipe() } }).go()"],
  ["an object that inherits from it", "await Object.setPrototypeOf({}, light).me.inner.wipe()"],
  ["a Proxy around it", "await new Proxy(light, {}).list[0].wipe()"],
  ["valueOf", "await light.valueOf().wipe()"],
  ["a class with it as a field", "class Box { inner = light.me }; await new Box().inner.find().wipe()"],
  ["Array.prototype.map.call", "await Promise.all(Array.prototype.map.call(light.list, (each) => each.wipe()))"],
  ["Promise.all of a Set", "await (await Promise.all(light.set))[0].wipe()"],
  ["Object.groupBy", "await Object.groupBy(light.list, () => 'a').a[0].wipe()"],
  ["toSorted", "await light.list.toSorted()[0].wipe()"],
  ["reduce", "await light.list.reduce((_, each) => each, 0).wipe()"],
  ["destructuring of a field", "const { me: { inner } } = light; await inner.wipe()"],
  ["destructuring of an array", "const [each] = light.list; await each.wipe()"],
  ["a timer", "await new Promise((go, no) => setTimeout((each) => each.wipe().then(go, no), 1, light.list[0]))"],
  ["a generator of the cell", "function* all() { yield* light.list }; for (const each of all()) await each.wipe()"],
  ["a callback that gives it back", "await light.each(() => light).wipe()"],
  ["a variable of an earlier value", "await kept.wipe()"],
]

describe("a guarded method of jsRuntime passes the gate by", () => {
  for (const [title, code] of ways) {
    test(title, async () => {
      for (const allow of [false, true]) {
        const { asked, light, execution } = await attempt(code, allow)
        assert.ok(asked > 0, `the gate was not asked: ${JSON.stringify(execution.ok || execution.error)}`)
        assert.equal(light.wiped, allow ? asked : 0)
        if (allow) assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
      }
    })
  }
})

async function attempt(code: string, allow: boolean) {
  const light = new Light()
  const room = { light, sweep: () => light.level }
  Object.assign(light, { room })
  let asked = 0
  const guard = { wipe: { approve: true } }
  await using runtime = jsRuntime({
    light: variable(light, { guard }),
    alias: variable(light, { guard: { dim: {} } }),
    room: variable(room, { guard: { sweep: {} } }),
    kept: null,
    Light,
    give: () => light,
    giveData: () => ({ items: [light] }),
    visit: (callback: (each: Light) => unknown) => callback(light),
  })
  await runtime.execute("kept = light")
  await runtime.update({ light: variable(light, { guard }) })
  const execution = await runtime.execute(code, {
    callGate(call, next) {
      if (call.method !== "wipe") return next()
      asked++
      if (!allow) throw new Error("refused")
      return next()
    },
  })
  return { asked, light, execution }
}

describe("a function that passes the gate still does", () => {
  const rows: [string, string][] = [
    ["as a field of a live object", "box.run = wipe; await box.run()"],
    ["as a field of a guarded object", "light.handlers.wipe = wipe; await light.emit('wipe')"],
    ["as a listener", "bus.on('e', wipe); bus.emit('e')"],
    ["as a listener of a guarded object", "light.onDim = wipe; light.dim(3)"],
    ["as a callback", "await light.each(wipe)"],
    ["as a callback in an object", "await light.visit({ done: wipe })[0]"],
    ["as a callback of a function of the host", "await visit(wipe)"],
    ["as a bound function", "await wipe.bind(null)()"],
    ["by Reflect.apply", "await Reflect.apply(wipe, null, [])"],
    ["as then of an object that is awaited", "await { then: wipe }"],
    ["as toJSON", "JSON.stringify({ toJSON: wipe })"],
    ["as a getter", "await Object.defineProperty({}, 'x', { get: wipe }).x"],
    ["as valueOf", "await ({ valueOf: wipe }, `${{ toString: () => 'x' }}`, Number({ valueOf: () => { wipe() } }))"],
    ["as a static method", "class A { static run = wipe }; await A.run()"],
    ["as a method of a subclass", "class A extends Array { run = wipe }; await new A().run()"],
  ]
  for (const [title, code] of rows) {
    test(title, async () => {
      let made = 0
      const calls: RuntimeCall[] = []
      const light = new Light()
      const bindings = {
        wipe: fn(() => void made++, { approve: true }),
        box: { run: undefined as unknown },
        bus: new EventEmitter(),
        light: variable(light, { guard: { wipe: {} } }),
        visit: (callback: () => unknown) => callback(),
      }
      await using runtime = jsRuntime(bindings)
      await runtime.execute(code, {
        timeoutMs: 300,
        async callGate(call, next) {
          if (call.binding !== "wipe") return next()
          calls.push(call)
          // The gate answers instead of refusing: a refusal would be an unhandled rejection if the cell does not await
          // the Promise.
          return undefined
        },
      })
      assert.equal(made, 0)
      assert.ok(calls.length > 0)
      assert.ok(calls.every(({ approve }) => approve === true))
    })
  }
})

describe("nothing of a cell is called by the host when it shows or stores what the cell gave", () => {
  const rows: [string, string][] = [
    ["toJSON of a result", "({ toJSON: wipe, x: 1 })"],
    ["then of a result in data", "[{ then: wipe }]"],
    ["a getter of a result", "({ get x() { wipe(); return 1 } })"],
    ["toJSON of an argument", "await take({ toJSON: wipe, x: 1 })"],
    ["then of an argument", "await take({ then: wipe })"],
    ["a getter of an argument", "await take({ get x() { wipe(); return 1 } })"],
    ["a proxy as an argument", "await take(new Proxy({}, { get: wipe, ownKeys: () => [] }))"],
  ]
  for (const [title, code] of rows) {
    test(title, async () => {
      const calls: string[] = []
      await using runtime = jsRuntime({ wipe: () => undefined, take: (_: unknown) => undefined })
      const execution = await runtime.execute(code, {
        callGate(call, next) {
          calls.push(call.binding)
          return next()
        },
      })
      assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
      assert.ok(!calls.includes("wipe"))
    })
  }
})

describe("what leads to no guarded object", () => {
  const cell = async (code: string, light = new Light(), more: object = {}) => {
    await using runtime = jsRuntime({ light: variable(light, { guard: { wipe: {} } }), ...more })
    const execution = await runtime.execute(code)
    assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
    return execution.value
  }

  test("is the very same object for the cell: plain data, dates, bytes, platform objects, classes", async () => {
    const data = {
      rows: [{ id: 1, tags: ["a"] }],
      date: new Date(0),
      bytes: new Uint8Array(2),
      url: new URL("http://x.y/"),
      headers: new Headers({ a: "b" }),
      pattern: /x/,
      map: new Map([["a", 1]]),
      type: Light,
    }
    const light = Object.assign(new Light(), { data: Object.values(data), ...data })
    const code = "[light.rows, light.date, light.bytes, light.url, light.headers, light.pattern, light.map, light.type]"
    assert.deepEqual(
      ((await cell(code, light)) as unknown[]).map((each, at) => each === Object.values(data)[at]),
      Array.from({ length: 8 }, () => true),
    )
    const clone = "structuredClone([light.rows, light.date, light.map])"
    assert.deepEqual(await cell(clone, light), [data.rows, data.date, data.map])
  })

  test("and what the cell itself has put in or has under a name is the same object too", async () => {
    const shared = new Hub(new Light())
    const code = `
class Own {}
const own = new Own(), listener = () => 1, options = { done() {} }
light.me = own
light.onDim = listener
light.handlers.options = options
;[light.me === own, light.onDim === listener, light.hub() === own, light.shared === shared, light.handlers.options === options]`
    const light = Object.assign(new Light(), { shared })
    assert.deepEqual(await cell(code, light, { shared }), [true, true, true, true, true])
    assert.ok(light.onDim)
  })

  test("is told apart again and again: the same view for the same object", async () => {
    const code =
      "[light.me === light.me, light.list === light.list, light.me.inner === light, light.list[0] === light, light.dim === light.dim, light.list.includes(light), light.set.has(light), light.map === light.map]"
    assert.deepEqual(await cell(code), [true, true, true, true, true, true, true, true])
  })

  test("works as it does without a guard: built-in methods, private fields, instanceof, JSON, printing", async () => {
    const code = `
light.list.push(1, 2)
light.list.splice(1, 1)
light.map.set("n", 1).delete("me")
light.set.add(2)
light.me.note = "x"
console.log(light.list.length, light.map, Array.isArray(light.list))
;[light.list.length, light.list.slice(1), [...light.map], light.set.size, light.me instanceof Hub, light.me.note,
 JSON.stringify(light), Object.keys(light.me), light.list.indexOf(light), light.list.map((each) => typeof each)]`
    assert.deepEqual(await cell(code, new Light(), { Hub }), [
      ...[2, [2], [["n", 1]], 2, true, "x"],
      ...['{"light":"lamp"}', ["inner", "note"], 0, ["object", "number"]],
    ])
  })

  test("is kept by a snapshot, also the data behind a view", async () => {
    const rows = Array.from({ length: 1000 }, (_, id) => ({ id }))
    const light = Object.assign(new Light(), { rows })
    const bindings = () => ({ light: variable(light, { guard: { wipe: {} } }) })
    await using runtime = jsRuntime(bindings())
    await runtime.execute("const kept = light.rows, few = light.rows.slice(0, 2)")
    const snapshot = await runtime.snapshot()
    await using other = jsRuntime(bindings())
    await other.restore(snapshot)
    assert.deepEqual(await retrieveAny(other, "kept"), rows)
    assert.deepEqual(await retrieveAny(other, "few"), rows.slice(0, 2))
  })

  test("of more values than are looked at is a view, and its rows are plain again", async () => {
    const rows = Array.from({ length: 1000 }, (_, id) => ({ id }))
    const light = Object.assign(new Light(), { rows })
    const code = "let sum = 0; for (const row of light.rows) sum += row.id; [sum, light.rows.length, light.rows.at(-1)]"
    const value = await cell(code, light)
    assert.deepEqual(value, [499500, 1000, { id: 999 }])
    assert.equal((value as unknown[])[2], rows[999])
  })
})
