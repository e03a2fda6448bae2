import assert from "node:assert/strict"
import { test } from "node:test"
import { classType, fn } from "../../../src/runtime/bindings.ts"
import { declared } from "./declare-text.ts"

const tasksModule = `
import { randomUUID } from "node:crypto"

/** Something to do. */
export interface Task {
  /** Unique. */
  id: string
  owner?: Person
  priority: Priority
}
interface Person { name: string }
type Priority = "low" | "high"
interface Unrelated { x: 1 }

/**
 * Adds a task.
 * @param name What to do
 */
export async function addTask(name: string, options: { priority?: Priority } = {}): Promise<Task> {
  return { id: randomUUID(), priority: "low", ...options }
}

export const rename = (task: Task, name = "unnamed"): Task => task
export default function remove(task: Task) {}
`

async function addTask(name: string) {
  return name
}

test("the author's source gives the signature, its documentation and the types it mentions", () => {
  assert.equal(
    declared({ addTask: fn(addTask, { source: tasksModule }) }),
    `type Priority = "low" | "high"
interface Person { name: string }
/** Something to do. */
interface Task {
  /** Unique. */
  id: string
  owner?: Person
  priority: Priority
}
/**
 * Adds a task.
 * @param name What to do
 */
declare function addTask(name: string, options?: { priority?: Priority }): Promise<Task>`,
  )
})

test("types that several functions of one module mention are declared once", () => {
  const rename = (task: unknown) => task
  const text = declared({
    addTask: fn(addTask, { source: tasksModule }),
    rename: fn(rename, { source: tasksModule, description: "Renames it" }),
  })
  assert.equal(text.match(/interface Task/g)?.length, 1)
  assert.match(text, /\/\*\* Renames it \*\/\ndeclare function rename\(task: Task, name\?: string\): Promise<Task>$/)
  assert.doesNotMatch(text, /Unrelated/)
})

test("a function is found by its own name where it is bound under another", () => {
  assert.match(declared({ add: fn(addTask, { source: tasksModule }) }), /declare function add\(name: string, /)
})

test("the text of one function is enough, named or not", () => {
  const f = (a: unknown) => a
  for (const source of [
    "(a: string): number => 1",
    "function (a: string): number { return 1 }",
    "const other = (a: string): number => 1",
  ]) {
    assert.equal(declared({ f: fn(f, { source }) }), "declare function f(a: string): Promise<number>")
  }
})

test("each overload is declared and the implementation is not", () => {
  const source = `
    /** Finds. */
    export function find(id: number): Task
    export function find(name: string): Task[]
    export function find(key: any): any {}`
  assert.equal(
    declared({ find: fn((key: unknown) => key, { source }) }),
    "/** Finds. */\ndeclare function find(id: number): Promise<Task>\ndeclare function find(name: string): Promise<Task[]>",
  )
})

test("a result that the author did not write down is anything", () => {
  const source = "function plain(a: string) {}\nasync function later(a: string) {}"
  assert.equal(declared({ plain: fn(() => {}, { source }) }), "declare function plain(a: string): Promise<any>")
  assert.equal(declared({ later: fn(() => {}, { source }) }), "declare function later(a: string): Promise<any>")
})

test("source that does not declare the function or does not parse leaves inspection", () => {
  const f = (a: unknown) => a
  const inspected = "declare function f(a?: unknown): Promise<any> // inferred"
  assert.equal(declared({ f: fn(f, { source: "function a() {}; function b() {}" }) }), inspected)
  assert.equal(declared({ f: fn(f, { source: "def f(a): pass" }) }), inspected)
})

test("a schema comes before the source, which still tells what the schema does not", () => {
  const f = (a: unknown) => a
  const source = "function f(a: string): Promise<number> {}"
  assert.equal(
    declared({ f: fn(f, { source, input: { type: "integer" } }) }),
    "declare function f(a: number): Promise<number>",
  )
})

class Shape {}
class Circle extends Shape {}

const circleModule = `
/** Round. */
export abstract class Circle<T = string> extends Shape implements Named {
  /** From the middle. */
  readonly radius: number
  label?: T
  private cache = new Map()
  protected inner = 1
  #secret = 1
  _hidden = 1
  tags: Tag[] = []
  count = 0
  static readonly unit = "cm"
  constructor(radius: number, private readonly owner: string, public color = "red") { super() }
  get area(): number { return 1 }
  get name() { return "" }
  set name(value: string) {}
  scale(by: number): this
  scale(x: number, y: number): this
  scale(...by: number[]) { return this }
  abstract draw(canvas: Canvas): Promise<void>
  static of(tag: Tag): Circle { throw new Error() }
  [Symbol.iterator]() {}
}
type Tag = { text: string; kind: Kind }
enum Kind { A, B = "b", C = 5, D }
class Canvas { width = 1; private pixels = []; get size(): number { return 1 } fill(color: string): void {} static make() {} }
class Shape { sides: number = 0 }
`

test("a class is declared from its author's source: public members, types and docs, no bodies", () => {
  assert.equal(
    declared({ Circle: classType(Circle, { source: circleModule }) }),
    `type Kind = 0 | "b" | 5 | 6
type Tag = { text: string; kind: Kind }
interface Canvas {
  width: number
  readonly size: number
  fill(color: string): void
}
interface Shape {
  sides: number
}
/** Round. */
declare abstract class Circle<T = string> {
  constructor(radius: number, owner: string, color?: string)
  /** From the middle. */
  readonly radius: number
  label?: T
  tags: Tag[]
  count: number
  color: string
  get area(): number
  name: string
  scale(by: number): this
  scale(x: number, y: number): this
  abstract draw(canvas: Canvas): Promise<void>
  static readonly unit: string
  static of(tag: Tag): Circle
}
interface Circle<T = string> extends Shape {}`,
  )
})

test("a class whose base is bound extends it", () => {
  const text = declared({
    Shape: classType(Shape, { source: circleModule }),
    Circle: classType(Circle, { source: circleModule }),
  })
  assert.match(text, /declare class Shape \{\n {2}sides: number\n\}/)
  assert.match(text, /declare abstract class Circle<T = string> extends Shape \{/)
  assert.doesNotMatch(text, /interface (Shape|Circle)/)
})

test("documentation of the source is left out when asked", () => {
  const text = declared({ Circle: classType(Circle, { source: circleModule, doc: false }) })
  assert.doesNotMatch(text, /Round|From the middle/)
})

test("a class from source that extends a built-in one keeps its type arguments", () => {
  class Bag extends Map {}
  const source = "class Bag extends Map<string, number> { total(): number { return 0 } }"
  assert.equal(
    declared({ Bag: classType(Bag, { source }) }),
    "declare class Bag extends Map<string, number> {\n  total(): number\n}",
  )
})
