import { type Bindings, classType, fn, variable } from "../../../src/runtime/bindings.ts"

/** A host value, and code that uses it from another process. */
export interface RemoteValue {
  bindings: () => Bindings
  /** Code that compiles against the declarations and runs. */
  good: string[]
  /** Code that does not compile. */
  bad: string[]
  /** Lines that the declarations must contain. */
  lines?: string[]
}

class Lamp {
  level = 1
  readonly watt = 60
  tags = ["desk"]
  get isOn() {
    return this.level > 0
  }
  get name() {
    return "lamp"
  }
  set name(_value: string) {}
  dim(to: number) {
    this.level = to
    return this
  }
  rows() {
    return [{ id: 1 }]
  }
  *[Symbol.iterator]() {
    yield this.level
  }
  *walk() {
    yield 1
  }
  async *pages() {
    yield 2
  }
  static all() {
    return [new Lamp()]
  }
}

const lampSource = `
interface Row { id: number; at?: Date }
class Bulb { watt: number; blink(times: number): void {} }
class Lamp {
  level: number
  readonly watt: number
  tags: string[]
  bulb?: Bulb
  constructor() {}
  get isOn(): boolean { return true }
  get name(): string { return "" }
  set name(value: string) {}
  dim(to: number): Lamp { return this }
  rows(): Row[] { return [] }
  walk(): Generator<number> { throw 0 }
  static all(): Lamp[] { return [] }
}`

class Box<T> {
  held: T
  constructor(held: T) {
    this.held = held
  }
  swap(next: T) {
    const before = this.held
    this.held = next
    return before
  }
}

class Counter {
  count = 0
  step = 1
}

class Door {
  isOpen = true
  handlers: (() => void)[] = []
  onClose = () => 1;
  [Symbol.dispose]() {
    this.isOpen = false
  }
}

function* numbers() {
  yield 1
  yield 2
}

export const remoteValues: Record<string, RemoteValue> = {
  "an instance, by inspection": {
    bindings: () => ({ lamp: new Lamp() }),
    good: [
      "(await lamp.level) + 1",
      "lamp.level = 2",
      "await lamp.dim(3)",
      "for await (const level of lamp) level",
      "for await (const one of await lamp.walk()) one",
      "(await lamp.tags).length",
    ],
    bad: ["lamp.level + 1", "lamp.isOn = true", "lamp.dimm(1)", "for (const level of lamp) level", "lamp.level = 'a'"],
  },
  "a class with its source": {
    bindings: () => ({ Lamp: classType(Lamp, { source: lampSource }), lamp: new Lamp() }),
    good: [
      "const made = await new Lamp()\nawait made.dim(2)",
      "(await lamp.rows())[0]?.id.toFixed()",
      "(await Lamp.all()).length",
      "lamp.name = 'hall'",
      "const walk = await lamp.walk()\nfor await (const one of walk) one.toFixed()",
      "await (await lamp.dim(1)).level",
    ],
    bad: [
      "new Lamp().dim(2)",
      "lamp.rows()[0]",
      "lamp.watt = 40",
      "lamp.isOn = false",
      "await lamp.dim('a')",
      "await lamp.dim()",
      "(await lamp.rows())[0]?.name",
      "async (bulb: Bulb) => bulb.watt + 1",
    ],
    lines: [
      "interface Bulb {",
      "  blink(times: number): Promise<void>",
      "interface Row { id: number; at?: Date }",
      "  get bulb(): Promise<Bulb | undefined>",
    ],
  },
  "a generic class with its source": {
    bindings: () => ({
      Box: classType(Box, {
        source: "class Box<T> { held: T; constructor(held: T) {} swap(next: T): T { return next } }",
      }),
    }),
    good: ["const box = await new Box(1)\n;(await box.swap(2)).toFixed()\nbox.held = 3"],
    bad: ["async () => (await new Box(1)).swap('a')", "async () => (await (await new Box('a')).held).toFixed()"],
    lines: ["declare const Box: { new <T>(held: T): Promise<Box<T>> }"],
  },
  "an object with a type in its author's words": {
    bindings: () => ({
      light: variable(
        { brightness: 1, dim: (to: number) => void to },
        {
          type: "{ dim(to: number): void; brightness: number }",
        },
      ),
    }),
    good: ["await light.dim(2)", "(await light.brightness).toFixed()", "light.brightness = 3"],
    bad: ["light.brightness.toFixed()", "await light.dim('a')", "light.brightness = 'a'", "await light.wipe()"],
    lines: ["  dim(to: number): Promise<void>", "  get brightness(): Promise<number>"],
  },
  "an object with readonly members in its author's words": {
    bindings: () => ({
      light: variable(
        {
          watt: 60,
          dim: () => 1,
          get on() {
            return true
          },
        },
        {
          type: "{ readonly watt: number; dim(): number; get on(): boolean }",
        },
      ),
    }),
    good: ["(await light.watt) + 1", "(await light.dim()) + 1", "await light.on"],
    bad: ["light.watt = 1", "light.on = false", "light.watt + 1"],
    lines: ["  readonly watt: Promise<number>", "  readonly on: Promise<boolean>"],
  },
  "an interface given in full": {
    bindings: () => ({
      counter: variable(new Counter(), { type: "interface Counted { count: number; step: number }" }),
    }),
    good: ["(await counter.count) + 1", "counter.step = 2"],
    bad: ["counter.count + 1", "counter.steps", "counter.step = 'a'"],
    lines: ["declare const counter: Counted"],
  },
  "interfaces given in full that name each other": {
    bindings: () => ({
      shop: variable(
        { owner: { name: "Ann" }, find: (id: number) => ({ id, tags: ["a"] }) },
        {
          type: "interface Item { id: number; tags: string[] }\ninterface Shop { owner: { name: string }; find(id: number): Item | undefined }",
        },
      ),
    }),
    good: ["(await shop.find(1))?.tags.join()", "(await shop.owner).name.length"],
    bad: ["shop.find(1)?.tags", "await shop.find()", "(await shop.find(1))?.name", "shop.owner.name.length"],
    lines: ["interface Item { id: number; tags: string[] }"],
  },
  "a union, an array and a function type in the author's words": {
    bindings: () => ({
      port: variable(
        { read: () => 1, lines: [() => 1] },
        {
          type: "{ read(): string | number; lines: (() => number)[]; onRead?: (text: string) => void } | null",
        },
      ),
    }),
    good: ["await port?.read()", "const [line] = (await port?.lines) ?? []\nawait line?.()"],
    bad: ["async () => (await port?.lines)?.[0]?.().toFixed()", "port?.read() === 1"],
  },
  data: {
    bindings: () => ({ rows: [{ id: 1, tags: ["a"] }], settings: { port: 80, server: { host: "a" } } }),
    good: [
      "rows[0]?.tags.length",
      "settings.server.host = 'b'",
      "rows.push({ id: 2, tags: [] })",
      "settings = { port: 1, server: { host: '' } }",
    ],
    bad: ["rows[0]?.name", "settings.server.prot"],
  },
  "frozen data, of which the copy is not frozen": {
    bindings: () => ({ settings: Object.freeze({ port: 80 }) }),
    good: ["settings.port = 81"],
    bad: ["settings.prot"],
    lines: ["declare let settings: { port: number } // inferred"],
  },
  "a frozen object with a method": {
    bindings: () => ({ light: Object.freeze({ watt: 60, dim: () => 1 }) }),
    good: ["(await light.watt) + 1", "await light.dim()"],
    bad: ["light.watt = 1", "light.watt + 1"],
  },
  "an object with accessors": {
    bindings: () => ({
      light: {
        get on() {
          return true
        },
        get level() {
          return 1
        },
        set level(_to: number) {},
      },
    }),
    good: ["await light.on", "light.level = 2"],
    bad: ["light.on = true"],
  },
  "an object inside data": {
    bindings: () => ({ house: { floors: 2, lamp: new Lamp(), door: { knock: () => 1, color: "red" } } }),
    good: [
      "house.floors + 1",
      "(await house.lamp.level) + 1",
      "await house.door.knock()",
      "(await house.door.color).length",
    ],
    bad: ["house.lamp.level + 1", "house.door.color.length"],
  },
  "functions inside an array": {
    bindings: () => ({ steps: [(by: number) => by + 1, (by: number) => by * 2] }),
    good: ["for (const step of steps) (await step(1)) + 1", "steps.length + 1"],
    bad: ["steps[0]?.(1) + 1"],
    lines: ["declare let steps: ((by: number) => Promise<any>)[] // inferred"],
  },
  "functions and instances inside a Map and a Set": {
    bindings: () => ({ byName: new Map([["double", (n: number) => n * 2]]), lamps: new Set([new Lamp()]) }),
    good: [
      "await byName.get('double')?.(2)",
      "for (const lamp of lamps) await lamp.dim(1)",
      "byName.size + lamps.size",
    ],
    bad: [
      "byName.get('double')?.(2) + 1",
      "for (const lamp of lamps) lamp.level + 1",
      "for await (const name of byName.keyz()) name",
    ],
  },
  "a URL": {
    bindings: () => ({ url: new URL("http://localhost/a?b=c") }),
    good: ["(await url.pathname).length", "(await url.toString()).length"],
    bad: ["url.pathname.length", "url.toString().length", "url.pathnam"],
    lines: ["declare const url: Handle<URL> // inferred"],
  },
  Headers: {
    bindings: () => ({ headers: new Headers({ accept: "a" }) }),
    good: ["(await headers.get('accept'))?.length", "for await (const [name] of headers) name.length"],
    bad: ["headers.get('accept')?.length", "for (const [name] of headers) name"],
  },
  "a Response": {
    bindings: () => ({ response: new Response("hello") }),
    good: ["(await response.text()).length", "(await response.status) + 1"],
    bad: ["response.status + 1", "response.text().length"],
  },
  "a generator": {
    bindings: () => ({ numbers: numbers() }),
    good: ["(await numbers.next()).value", "for await (const one of numbers) one"],
    bad: ["for (const one of numbers) one", "numbers.next().value", "[...numbers]"],
  },
  "a function that gives an instance, data or a function": {
    bindings: () => ({
      Lamp: classType(Lamp, { source: lampSource }),
      open: fn(() => new Lamp(), { signature: "() => Lamp" }),
      list: fn(() => [{ id: 1 }], { signature: "() => { id: number }[]" }),
      adder: fn((by: number) => (to: number) => by + to, { signature: "(by: number) => (to: number) => number" }),
      watch: fn(() => ({ stop: () => 1, name: "w" }), { signature: "() => { stop(): number; name: string }" }),
    }),
    good: [
      "await (await open()).dim(1)",
      "(await list())[0]?.id.toFixed()",
      "(await (await adder(1))(2)).toFixed()",
      "const watching = await watch()\n;(await watching.stop()) + 1\n;(await watching.name).length",
    ],
    bad: [
      "async () => (await open()).level + 1",
      "list()[0]",
      "async () => (await adder(1))(2).toFixed()",
      "async () => (await watch()).name.length",
    ],
  },
  "functions that take instances and callbacks": {
    bindings: () => ({
      lamp: new Lamp(),
      Lamp: classType(Lamp, { source: lampSource }),
      light: fn((lamp: Lamp) => lamp.level, { signature: "(lamp: Lamp) => number" }),
    }),
    good: ["(await light(lamp)) + 1", "(await light(await new Lamp())) + 1"],
    bad: ["await light(new Lamp())", "await light(1)", "await light()"],
  },
  "an object that is disposed of, with functions in its fields": {
    bindings: () => ({ door: new Door() }),
    good: [
      "await door.onClose()",
      "(await door.handlers).length",
      "{\n  await using held = door\n  await held.isOpen\n}",
    ],
    bad: ["door.handlers.length", "door.onClose() + 1"],
  },
  "a schema as a type, and values of it": {
    bindings: () => ({
      Task: classType({ "~standard": { version: 1, vendor: "other", validate: (value: unknown) => ({ value }) } }),
      when: variable(new Date(0), { type: "Date" }),
      text: variable(/a/, { type: "RegExp" }),
      failure: new TypeError("wrong"),
    }),
    good: ["when.getTime() + 1", "text.test('a')", "failure.message.length", "failure instanceof TypeError"],
    bad: ["when.getTme()", "text.tset('a')"],
  },
}
