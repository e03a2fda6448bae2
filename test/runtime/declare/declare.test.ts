import assert from "node:assert/strict"
import { test } from "node:test"
import { ConfigError } from "../../../src/core/errors.ts"
import { classType, fn, variable } from "../../../src/runtime/bindings.ts"
import { declareBindings } from "../../../src/runtime/declare/declare-bindings.ts"
import { bound, declared } from "./declare-text.ts"

class Light {
  brightness = 0
  dim(level: number) {
    this.brightness = level
  }
}

const add = (name: string) => ({ name })

test("a function with a signature is declared as returning a Promise, with its description", () => {
  const addTask = fn(add, { description: "Add a task", signature: "(name: string) => Task" })
  assert.equal(declared({ addTask }), "/** Add a task */\ndeclare function addTask(name: string): Promise<Task>")
})

test("a signature that already says Promise is not wrapped in another", () => {
  const load = fn(add, { signature: "(url: string) => Promise<Row[]>" })
  assert.equal(declared({ load }), "declare function load(url: string): Promise<Row[]>")
})

test("a PromiseLike result is declared as the Promise that the gate gives", () => {
  assert.equal(
    declared({ load: fn(add, { signature: "() => PromiseLike<Row>" }) }),
    "declare function load(): Promise<Row>",
  )
})

test("a result that is perhaps a Promise is declared as one Promise of what it gives", () => {
  assert.equal(
    declared({ load: fn(add, { signature: "() => Row | Promise<Row>" }) }),
    "declare function load(): Promise<Awaited<Row | Promise<Row>>>",
  )
})

test("a sync function is declared as it is", () => {
  const area = fn(add, { sync: true, signature: "(w: number, h: number) => number" })
  assert.equal(declared({ area }), "declare function area(w: number, h: number): number")
})

test("type parameters, optional and rest parameters of a signature are kept", () => {
  const pick = fn(add, { signature: "<T extends Row>(rows: T[], by?: keyof T, ...more: string[]) => T" })
  assert.equal(
    declared({ pick }),
    "declare function pick<T extends Row>(rows: T[], by?: keyof T, ...more: string[]): Promise<T>",
  )
})

test("a type predicate becomes the boolean that awaiting it gives, and stays where the function is sync", () => {
  const signature = "(x: unknown) => x is Task"
  assert.equal(declared({ is: fn(add, { signature }) }), "declare function is(x: unknown): Promise<boolean>")
  assert.equal(declared({ is: fn(add, { signature, sync: true }) }), "declare function is(x: unknown): x is Task")
  assert.equal(
    declared({ must: fn(add, { signature: "(x: unknown) => asserts x is Task" }) }),
    "declare function must(x: unknown): Promise<void>",
  )
})

for (const signature of [
  "(a: string) => number",
  "(a: string): number",
  "function whatever(a: string): number",
  "export declare function f(a: string): number",
  "async function f(a: string): Promise<number>",
  "f(a: string): number",
]) {
  test(`a signature may be written as ${signature}`, () => {
    assert.equal(declared({ f: fn(add, { signature }) }), "declare function f(a: string): Promise<number>")
  })
}

test("a signature that is not TypeScript is an error that names the function and shows how to write one", () => {
  assert.throws(
    () => declared({ addTask: fn(add, { signature: "name: string -> Task" }) }),
    (error) => error instanceof ConfigError && /addTask.*not TypeScript.*=> Task/.test(error.message),
  )
})

test("a signature cannot bring in more than a signature", () => {
  for (const signature of ["() => void; declare const hidden: string", "string", "() => void, b: string"]) {
    assert.throws(() => declared({ f: fn(add, { signature }) }), ConfigError)
  }
})

test("the author's type of a variable is shown instead of what inspection finds", () => {
  assert.equal(
    declared({ tasks: variable([], { type: "Task[]", description: "The user's tasks" }) }),
    "/** The user's tasks */\ndeclare let tasks: Task[]",
  )
})

test("a type of a variable that is not TypeScript is an error that names the variable", () => {
  assert.throws(() => declared({ tasks: variable([], { type: "list of tasks" }) }), /tasks.*not TypeScript/)
  assert.throws(() => declared({ tasks: variable([], { type: "string = 5" }) }), ConfigError)
})

test("data may be assigned to and is declared with let, an instance is kept and declared with const", () => {
  const text = declared({ count: 1, rows: [{ a: 1 }], seen: new Set([1]), light: new Light(), api: { get() {} } })
  assert.match(text, /^declare let count: number/m)
  assert.match(text, /^declare let rows: /m)
  assert.match(text, /^declare let seen: Set<number>/m)
  assert.match(text, /^declare const light: Light$/m)
  assert.match(text, /^declare const api: /m)
})

test("a variable without a value yet is declared as anything, to be filled", () => {
  assert.equal(
    declared({ report: undefined, chart: null }),
    "declare let report: any // inferred\ndeclare let chart: any // inferred",
  )
})

test("an instance of a class that is not bound shows the members of the class, marked as inferred", () => {
  assert.equal(
    declared({ light: new Light() }),
    [
      "declare class Light { // inferred",
      "  brightness: number",
      "  dim(level?: unknown): any",
      "}",
      "declare const light: Light",
    ].join("\n"),
  )
})

test("a class is declared once however many instances there are", () => {
  const text = declared({ a: new Light(), b: [new Light()], c: new Map([["x", new Light()]]) })
  assert.equal(text.match(/declare class Light/g)?.length, 1)
  assert.match(text, /declare let b: Light\[\]/)
  assert.match(text, /declare let c: Map<string, Light>/)
})

const agent = { name: "cleaner", description: "Cleans rows", run() {}, session() {}, describe() {}, with() {} }

test("an agent is declared with its name and description, and what a cell needs of it once", () => {
  const text = declared({ cleaner: { ...agent, runtime: {} }, other: { ...agent, name: "other", runtime: {} } })
  assert.match(text, /\/\*\* cleaner: Cleans rows \*\/\ndeclare const cleaner: Agent$/m)
  assert.match(text, /declare const other: Agent$/m)
  assert.equal(text.match(/interface Agent</g)?.length, 1)
  assert.match(text, /run\(prompt: string, options\?: .*\): Promise<AgentReply>/)
  assert.match(text, /update\(values: Partial<Names>\): Promise<void>/)
  assert.match(text, /retrieve\(name: string\): Promise<any>/)
})

test("an agent without a shared runtime is not said to have one", () => {
  assert.match(declared({ cleaner: agent }), /declare const cleaner: Omit<Agent, "runtime">$/m)
})

test("a binding called Agent keeps its name beside an agent", () => {
  const text = declared({ Agent: classType(Light), cleaner: { ...agent, runtime: {} } })
  assert.match(text, /declare class Agent /)
  assert.match(text, /declare const cleaner: Agent2$/m)
})

test("a description cannot break out of its comment", () => {
  const text = declared({
    light: variable(new Light(), "nice */ declare const injected: string /* lamp"),
    f: fn(add, { description: "first\r\nsecond\u2028third */", signature: "() => void" }),
  })
  assert.match(text, /nice \*\\\/ declare const injected/)
  assert.match(text, /\/\*\*\n \* first\n \* second\n \* third \*\\\/\n \*\/\ndeclare function f/)
  assert.doesNotMatch(text, /^declare const injected/m)
})

test("declarations come in the order of the bindings and are the same text each time", () => {
  const bindings = bound({ zebra: 1, apple: [{ b: 1, a: 2 }], light: new Light(), mango: add })
  const text = declareBindings(bindings)
  assert.deepEqual(text.match(/(?<=declare (?:let|const|function) )\w+/g), ["zebra", "apple", "light", "mango"])
  assert.equal(declareBindings(bindings), text)
})

test("no bindings give no text", () => {
  assert.equal(declared({}), "")
})

test("some of the bindings are declared without repeating or revealing the types of the others", () => {
  class Room {
    secret = 1
  }
  const earlier = { Light: classType(Light), Room: classType(Room, { schema: false }) }
  const later = { lamp: new Light(), room: new Room() }
  assert.equal(
    declareBindings(bound(later), bound({ ...earlier, ...later })),
    "declare const lamp: Light\ndeclare const room: Room",
  )
})

test("a class named like a type that declarations use is shown in place", () => {
  class Record {
    id = 1
  }
  assert.match(declared({ row: new Record(), byId: { "a-1": 1 } }), /declare const row: \{ id: number \}/)
})
