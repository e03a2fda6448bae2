import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { test } from "node:test"
import { createUndoImage, type UndoOptions } from "../../../src/runtime/snapshot/undo.ts"

/** Changes a value and undoes the change. Returns what could not be undone. */
function undone<T>(value: T, change: (value: T) => void, options?: UndoOptions) {
  const image = createUndoImage({ value }, options)
  change(value)
  return { uncaptured: image.uncaptured, lost: image.restore() }
}

test("names come back with their values and in their order, and new ones go", () => {
  const scope: Record<string, unknown> = { b: 1, a: undefined, c: "x" }
  const image = createUndoImage(scope)
  delete scope.b
  scope.a = 2
  scope.d = 4
  scope.b = 3
  assert.deepEqual(image.restore(), [])
  assert.deepEqual(Object.entries(scope), [
    ["b", 1],
    ["a", undefined],
    ["c", "x"],
  ])
})

test("an array gets its elements, its holes and its length back and stays the same array", () => {
  const inner = { n: 1 }
  const array: unknown[] = [1, inner, 2, undefined]
  Reflect.deleteProperty(array, 2)
  undone(array, () => {
    array.reverse()
    array.push(5)
    inner.n = 2
  })
  assert.deepEqual(Object.entries(array), [
    ["0", 1],
    ["1", { n: 1 }],
    ["3", undefined],
  ])
  assert.equal(array.length, 4)
  assert.equal(array[1], inner)
  assert.equal(inner.n, 1)
})

test("named properties of an array are its own as well", () => {
  const match = /b/.exec("abc")
  undone(match, () => Object.assign(match ?? {}, { index: 7, more: 1 }))
  assert.equal(match?.index, 1)
  assert.equal("more" in (match ?? {}), false)
  const array: unknown[] & { total?: number } = [1]
  undone(array, () => {
    array.total = 3
  })
  assert.deepEqual(Object.keys(array), ["0"])
})

test("a long array is not asked for its keys one by one, and loses a named one all the same", () => {
  const array: unknown[] & { total?: number } = Array.from({ length: 1000 }, (_, n) => n)
  undone(array, () => {
    array.total = 3
    array[999] = "x"
  })
  assert.equal(array[999], 999)
  assert.equal(array.total, undefined)
})

test("a sparse array of enormous length is remembered by what is in it", () => {
  const array: unknown[] = []
  array[4_000_000_000] = "far"
  undone(array, () => {
    array[4_000_000_000] = "near"
    array[1] = "new"
  })
  assert.deepEqual(Object.keys(array), ["4000000000"])
  assert.equal(array[4_000_000_000], "far")
})

test("keys of an object come back in their order", () => {
  const object: Record<string, unknown> = { b: 1, a: 2 }
  undone(object, () => {
    delete object.b
    object.c = 3
    object.b = 4
  })
  assert.deepEqual(Object.entries(object), [
    ["b", 1],
    ["a", 2],
  ])
})

test("maps and sets come back with their entries, in order, and with keys by identity", () => {
  const key = {}
  const map = new Map<unknown, unknown>([
    [key, 1],
    ["b", new Set([1, 2])],
  ])
  const set = map.get("b")
  undone(map, () => {
    map.delete(key)
    map.set(key, 2)
    if (set instanceof Set) set.clear()
  })
  assert.deepEqual([...map.keys()], [key, "b"])
  assert.equal(map.get(key), 1)
  assert.deepEqual(set, new Set([1, 2]))
})

test("a map of a subclass is read and written past the methods that the subclass has", () => {
  let calls = 0
  class Counting extends Map {
    override set(key: unknown, value: unknown) {
      calls++
      return super.set(key, value)
    }
    override clear() {
      throw new Error("never")
    }
  }
  const map = new Counting()
  Map.prototype.set.call(map, "a", 1)
  undone(map, () => Map.prototype.set.call(map, "b", 2))
  assert.deepEqual([...map], [["a", 1]])
  assert.equal(calls, 0)
})

test("an array of a subclass comes back without its constructor being asked", () => {
  let made = 0
  class Stack extends Array<number> {
    constructor(...items: number[]) {
      super(...items)
      made++
    }
  }
  const stack = new Stack(1, 2)
  undone(stack, () => {
    stack.pop()
  })
  assert.deepEqual([...stack], [1, 2])
  assert.equal(made, 1)
})

test("dates, regular expressions and bytes come back", () => {
  const value = {
    date: new Date(5),
    pattern: /a/g,
    bytes: new Uint8Array([1, 2, 3]),
    data: new DataView(new ArrayBuffer(2)),
  }
  undone(value, () => {
    value.date.setTime(9)
    value.pattern.lastIndex = 4
    value.bytes[1] = 9
    value.data.setInt8(0, 7)
  })
  assert.equal(value.date.getTime(), 5)
  assert.equal(value.pattern.lastIndex, 0)
  assert.deepEqual([...value.bytes], [1, 2, 3])
  assert.equal(value.data.getInt8(0), 0)
})

test("of a pooled buffer only its own bytes are put back", () => {
  const [mine, other] = [Buffer.from("mine"), Buffer.from("other")]
  assert.equal(mine.buffer, other.buffer)
  undone(mine, () => {
    mine.write("none")
    other.write("later")
  })
  assert.equal(mine.toString(), "mine")
  assert.equal(other.toString(), "later")
})

test("a buffer that was made smaller gets its size back, and one that was given away is named", () => {
  const shrunk = new ArrayBuffer(4, { maxByteLength: 8 })
  new Uint8Array(shrunk).set([1, 2, 3, 4])
  undone(shrunk, () => shrunk.resize(1))
  assert.deepEqual([...new Uint8Array(shrunk)], [1, 2, 3, 4])
  const given = new ArrayBuffer(4)
  const { lost } = undone(given, () => void structuredClone(given, { transfer: [given] }))
  assert.deepEqual(
    lost.map(({ name }) => name),
    ["value"],
  )
})

test("instances keep their class, and get fields, prototype and statics back", () => {
  class Light {
    static made = 1
    brightness = 100
    dim() {
      return 1
    }
  }
  const light = new Light()
  const { dim } = Light.prototype
  undone(light, () => {
    light.brightness = 1
    Light.made = 9
    Light.prototype.dim = () => 2
    Object.setPrototypeOf(light, null)
  })
  assert.ok(light instanceof Light)
  assert.equal(light.brightness, 100)
  assert.equal(Light.made, 1)
  assert.equal(light.dim, dim)
})

test("functions are the same functions and lose properties they were given", () => {
  const add = Object.assign((n: number) => n + 1, { calls: 0 })
  undone({ add }, () => Object.assign(add, { calls: 5, more: 1 }))
  assert.equal(add.calls, 0)
  assert.equal("more" in add, false)
})

test("errors get message, cause and their own properties back", () => {
  const error = Object.assign(new Error("first", { cause: { n: 1 } }), { code: "A" })
  undone(error, () => {
    error.message = "second"
    error.code = "B"
    Object.assign(error.cause as object, { n: 2 })
  })
  assert.equal(error.message, "first")
  assert.equal(error.code, "A")
  assert.deepEqual(error.cause, { n: 1 })
})

test("accessors are never called: not when the image is made, not when it is restored", () => {
  let calls = 0
  const accessor = { get: () => ++calls, enumerable: true, configurable: true }
  const object = Object.defineProperty({ a: 1 }, "got", accessor)
  const array = Object.defineProperty([1, 2], 1, accessor)
  const { lost } = undone({ object, array }, () => {
    object.a = 2
    array[0] = 5
    Object.defineProperty(object, "a", accessor)
  })
  assert.deepEqual(lost, [])
  assert.equal(calls, 0)
  assert.equal(Object.getOwnPropertyDescriptor(object, "a")?.value, 1)
  assert.equal(typeof Object.getOwnPropertyDescriptor(object, "got")?.get, "function")
  assert.equal(array[0], 1)
})

test("symbol keys, hidden and constant properties come back as they were", () => {
  const symbol = Symbol("s")
  const object: Record<PropertyKey, unknown> = { [symbol]: 1 }
  Object.defineProperty(object, "hidden", { value: { n: 1 }, configurable: true })
  const hidden = object.hidden
  undone(object, () => {
    object[symbol] = 2
    Object.assign(hidden as object, { n: 2 })
    Object.defineProperty(object, "hidden", { value: 5, enumerable: true, writable: true })
  })
  assert.equal(object[symbol], 1)
  assert.deepEqual(Object.getOwnPropertyDescriptor(object, "hidden"), {
    value: hidden,
    writable: false,
    enumerable: false,
    configurable: true,
  })
  assert.deepEqual(hidden, { n: 1 })
})

test("a symbol that a cell put on a plain row goes again", () => {
  const rows = [{ id: 1 }, { id: 2 }]
  undone(rows, () => Object.assign(rows[1] ?? {}, { [Symbol("mark")]: true }))
  assert.deepEqual(Reflect.ownKeys(rows[1] ?? {}), ["id"])
})

test("what was frozen before is no trouble, and what the cell froze is named", () => {
  const before = Object.freeze({ list: Object.freeze([1]) })
  assert.deepEqual(undone(before, () => undefined).lost, [])
  const rows = [{ id: 1 }, { id: 2 }]
  const { lost } = undone(rows, () => {
    Object.assign(rows[0] ?? {}, { id: 9 })
    Object.freeze(rows[1])
  })
  assert.equal(rows[0]?.id, 1)
  assert.deepEqual(lost, [
    {
      name: "value",
      path: "[1]",
      reason: "the cell froze, sealed or gave it away, or removed what cannot be added again",
    },
  ])
})

test("a proxy is not entered and is named with its place", () => {
  const traps = new Proxy({}, { get: () => assert.fail("a trap ran") })
  const proxy = new Proxy({}, traps)
  const { uncaptured } = undone({ deep: [proxy] }, () => undefined)
  assert.deepEqual(uncaptured, [
    {
      name: "value",
      path: ".deep[0]",
      reason: "a Proxy, such as an object of the host: what the cell changed behind it is not undone",
    },
  ])
  const { uncaptured: none } = undone({ deep: [proxy] }, () => undefined, {
    proxyTarget: (value) => (value === proxy ? null : undefined),
  })
  assert.deepEqual(none, [])
})

test("#private fields are named by class; methods, getters and a # in a string are none", () => {
  class Safe {
    #secret = 1
    open() {
      return this.#secret
    }
  }
  class Paint {
    colour = "#ff0000"
    mix() {
      return this.#mixed + this.#tint()
    }
    get #mixed() {
      return this.colour
    }
    #tint() {
      return "#fff"
    }
  }
  const { uncaptured } = undone({ safe: new Safe(), paint: new Paint() }, () => undefined)
  assert.deepEqual(uncaptured, [
    { name: "value", path: ".safe", reason: "the #private fields of Safe cannot be seen by other code" },
  ])
})

test("#private fields on objects that a constructor returned are named at the class that adds them", () => {
  class Same {
    constructor(object: object) {
      // biome-ignore lint/correctness/noConstructorReturn: the test needs such a class
      return object
    }
  }
  class Stamp extends Same {
    #n = 1
    static up(object: object) {
      return #n in object ? ++object.#n : 0
    }
  }
  const { uncaptured } = undone({ Stamp, stamped: new Stamp({}) }, () => undefined)
  assert.deepEqual(uncaptured, [
    {
      name: "value",
      path: ".Stamp",
      reason:
        "a class with #private members on objects that the constructor of its superclass returned, which other code cannot see",
    },
  ])
})

test("built-ins that hide their state are named and not entered; the platform's own are neither", () => {
  class Lamp extends EventEmitter {
    on1 = true
  }
  const generator = (function* () {
    yield 1
  })()
  const value = {
    weak: new WeakMap(),
    timer: setTimeout(() => undefined, 0),
    lamp: new Lamp(),
    generator,
    Math,
    fetch,
    console,
  }
  clearTimeout(value.timer)
  const { uncaptured } = undone(value, () => undefined)
  assert.deepEqual(
    uncaptured.map(({ path }) => path),
    [".weak", ".timer", ".lamp", ".generator"],
  )
})

test("a promise is named only when it was settled meanwhile", async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const kept = createUndoImage({ promise, done: Promise.resolve(1) })
  assert.deepEqual(kept.restore(), [])
  const image = createUndoImage({ promise, done: Promise.resolve(1) })
  resolve()
  await promise
  assert.deepEqual(image.restore(), [{ name: "promise", reason: "a promise that was settled stays so" }])
})

test("of many alike things that cannot be undone a few are named, and how many more there are", () => {
  const { uncaptured } = undone(
    Array.from({ length: 100 }, () => new WeakSet()),
    () => undefined,
  )
  assert.equal(uncaptured.length, 6)
  assert.match(uncaptured.at(-1)?.reason ?? "", /^and 95 more places like this: a WeakSet/)
})

test("what the host puts in meanwhile stays", () => {
  const scope: Record<string, unknown> = { a: 1 }
  const image = createUndoImage(scope)
  scope.b = 2
  image.updateName("b", 2)
  scope.c = 3
  image.restore()
  assert.deepEqual(scope, { a: 1, b: 2 })
})

test("a chain of a hundred thousand objects overflows no stack", () => {
  interface Link {
    next: Link | undefined
    n: number
  }
  let chain: Link = { next: undefined, n: 0 }
  const last = chain
  for (let n = 0; n < 100_000; n++) chain = { next: chain, n }
  undone(chain, () => {
    last.n = 5
  })
  assert.equal(last.n, 0)
})

test("what several names share is put back once and stays shared", () => {
  const shared = { list: [1] }
  const scope: Record<string, unknown> = { a: shared, b: [shared, shared.list] }
  const image = createUndoImage(scope)
  shared.list.push(2)
  shared.list = []
  image.restore()
  assert.deepEqual(scope, { a: { list: [1] }, b: [{ list: [1] }, [1]] })
  assert.equal(shared.list, (scope.b as unknown[])[1])
})
