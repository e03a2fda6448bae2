import { z } from "zod"
import { type Bindings, classType, fn, variable } from "../../../src/runtime/bindings.ts"
import type { BadCell, GoodCell } from "./type-gate-corpus.ts"

class Shelf {
  label = "top"
  slots = 4
  find(id: number) {
    return { id, tags: ["a"], at: { row: 1 } }
  }
  add(id: number, name: string, _size?: number) {
    return `${id}${name}`
  }
  wipe(why: string) {
    return why.length
  }
}

const shelfType = `{
  label: string
  slots: number
  find(id: number): { id: number; tags: string[]; at: { row: number } }
  add(id: number, name: string, size?: number): string
  wipe(why: string): number
}`

const shelfSource = `class Shelf {
  label: string
  slots: number
  constructor() {}
  find(id: number): { id: number; tags: string[]; at: { row: number } } { throw 0 }
  add(id: number, name: string, size?: number): string { return "" }
  wipe(why: string): number { return 0 }
}`

class Gauge {
  level = 1
  read() {
    return this.level
  }
}

/** Values and functions with written types, in each possible way. */
export function explicitBindings(): Bindings {
  return {
    shelf: variable(new Shelf(), { type: shelfType }),
    guarded: variable(new Shelf(), { type: shelfType, guard: { wipe: {} } }),
    Rack: classType(Shelf, { source: shelfSource.replace("class Shelf", "class Rack") }),
    rack: new Shelf(),
    gauge: variable(new Gauge(), { type: "interface Meter { level: number; read(): number }" }),
    point: variable({ x: 1, y: 2 }, { type: "{ x: number; y: number; z?: number }" }),
    send: fn(async (to: string, text: string) => ({ id: `${to}${text}`, sent: true }), {
      signature: "(to: string, text: string, copies?: number) => Promise<{ id: string; sent: boolean }>",
    }),
    total: fn((numbers: number[]) => numbers.reduce((sum, each) => sum + each, 0), {
      signature: "(numbers: number[]) => number",
    }),
    pick: fn((mode: string) => mode, { signature: '(mode: "fast" | "slow") => string' }),
    either: fn((key: unknown) => String(key), { signature: "(key: string | number) => string" }),
    join: fn((...parts: string[]) => parts.join(), { signature: "(first: string, ...rest: string[]) => string" }),
    anything: fn((value: unknown) => value, { signature: "(value: unknown) => any" }),
    book: fn(async (input: unknown) => input, {
      input: z.object({ room: z.string(), nights: z.number(), late: z.boolean().optional() }),
      output: z.object({ room: z.string(), nights: z.number() }),
    }),
    pair: fn((...both: unknown[]) => both, { input: z.tuple([z.string(), z.number()]) }),
    later: fn((at: unknown) => at, { input: z.coerce.date() }),
    maybe: fn((at: unknown) => at ?? null, { input: z.date().optional() }),
  }
}

const rows = <T extends { title: string; code: string }>(cells: T[]) =>
  cells.map((cell) => ({ ...cell, title: `explicit: ${cell.title}`, bindings: explicitBindings }))

/** Cells that follow the types. None may be refused. */
export const goodExplicit: GoodCell[] = rows([
  { title: "a method with its arguments", code: "await shelf.add(1, 'a')" },
  { title: "a method with an optional argument", code: "await shelf.add(1, 'a', 3)" },
  { title: "a method called like one of the language", code: "const found = await shelf.find(1)\nfound.tags.length" },
  { title: "a member of what a method gives", code: "(await shelf.find(2)).at.row + 1" },
  { title: "a field", code: "(await shelf.slots) + 1" },
  { title: "a field that is assigned to", code: "shelf.label = 'low'\n;(await shelf.label).length" },
  { title: "a guarded method", code: "(await guarded.wipe('old')) + 1" },
  { title: "an unguarded method of a guarded object", code: "(await guarded.find(1)).tags.join()" },
  { title: "a field of a guarded object", code: "(await guarded.label).length" },
  { title: "a method of an instance with a source", code: "await rack.add(1, 'a')" },
  { title: "an object with an interface in full", code: "(await gauge.read()) + (await gauge.level)" },
  { title: "data with a type", code: "point.x + point.y" },
  { title: "an optional member of data", code: "point.z ?? 0" },
  { title: "a member that data is given", code: "point.z = 3\npoint.z + 1" },
  { title: "a function", code: "(await send('Ann', 'hello')).id.length" },
  { title: "a function with its optional argument", code: "await send('Ann', 'hello', 2)" },
  { title: "arguments from variables", code: "const to = 'Ann'\nlet text = 'hello'\nawait send(to, text)" },
  { title: "arguments that are computed", code: "await send('Ann'.toUpperCase(), `hello ${1 + 1}`)" },
  { title: "arguments that are spread", code: "const both = ['Ann', 'hello']\nawait send(...both)" },
  { title: "an array for an array", code: "(await total([1, 2, 3])).toFixed()" },
  { title: "an array of a map", code: "await total(['a', 'bb'].map((word) => word.length))" },
  { title: "one of the words", code: "await pick('fast')" },
  { title: "a word that is only known to be text", code: "let mode = 'fast'\nawait pick(mode)" },
  { title: "a word chosen by a condition", code: "await pick(point.x > 0 ? 'fast' : 'slow')" },
  { title: "either of two types", code: "(await either(1)) + (await either('a'))" },
  { title: "either of two types in a loop", code: "for (const key of [1, 'a']) await either(key)" },
  { title: "rest arguments", code: "(await join('a', 'b', 'c')) + (await join('a'))" },
  { title: "anything for anything", code: "await anything(1)\nawait anything({ a: 1 })" },
  { title: "an object for a schema", code: "(await book({ room: 'a', nights: 2 })).nights + 1" },
  { title: "an object for a schema, with an option", code: "await book({ room: 'a', nights: 2, late: true })" },
  { title: "an object that was put together", code: "const room = { room: 'a' }\nawait book({ ...room, nights: 1 })" },
  { title: "an object from elsewhere", code: 'await book(JSON.parse(\'{"room":"a","nights":1}\'))' },
  {
    title: "an object whose members come by and by",
    code: "const stay = {}\nstay.room = 'a'\nstay.nights = 1\nawait book(stay)",
  },
  { title: "a tuple of arguments", code: "await pair('a', 1)" },
  { title: "a text for a coerced date", code: "await later('2026-01-01')" },
  { title: "an argument that may be left out", code: "await maybe()\nawait maybe(new Date(0))" },
  {
    title: "a failing call that is expected",
    code: "try {\n  (await anything(null)).toFixed()\n} catch (error) {\n  String(error)\n}",
  },
  { title: "a value that is asserted", code: "await total(point.x as unknown as number[]).catch(() => 0)" },
  { title: "a value of any type", code: "const given = await anything([1])\nawait total(given)" },
  { title: "a method by a computed key", code: "const name = 'find'\n;(await shelf[name](1)).id" },
])

/** Cells that violate written types. All must be refused. */
export const badExplicit: BadCell[] = rows([
  { title: "too few arguments of a function", code: "await send('Ann')", names: "Expected 2-3 arguments" },
  { title: "no argument of a function", code: "await total()", names: "Expected 1 arguments" },
  { title: "too many arguments of a function", code: "await total([1], [2])", names: "Expected 1 arguments" },
  {
    title: "more arguments than a function with an option takes",
    code: "await send('a', 'b', 1, 2)",
    names: "but got 4",
  },
  { title: "no argument before the rest", code: "await join()", names: "Expected at least 1" },
  { title: "too few arguments of a method", code: "await shelf.add(1)", names: "Expected 2-3 arguments" },
  { title: "too many arguments of a method", code: "await shelf.wipe('a', 'b')", names: "Expected 1 arguments" },
  {
    title: "no argument of a method called like one of the language",
    code: "await shelf.find()",
    names: "Expected 1 arguments",
  },
  { title: "too many arguments of such a method", code: "await shelf.find(1, 2)", names: "Expected 1 arguments" },
  { title: "no argument of a guarded method", code: "await guarded.wipe()", names: "Expected 1 arguments" },
  {
    title: "too many arguments of a guarded method",
    code: "await guarded.wipe('a', 2)",
    names: "Expected 1 arguments",
  },
  { title: "no argument of a method with a source", code: "await rack.find()", names: "Expected 1 arguments" },
  { title: "an argument of a method without any", code: "await gauge.read(1)", names: "Expected 0 arguments" },
  { title: "too few arguments of a tuple", code: "await pair('a')", names: "Expected 2 arguments" },
  { title: "too many arguments of a tuple", code: "await pair('a', 1, 2)", names: "Expected 2 arguments" },
  { title: "no argument of a schema", code: "await book()", names: "Expected 1 arguments" },
  { title: "an unknown method", code: "await shelf.remove(1)", names: "remove" },
  { title: "a misspelt method", code: "await shelf.fnd(1)", names: "fnd" },
  { title: "a misspelt field", code: "await shelf.lable", names: "lable" },
  { title: "an unknown method of a guarded object", code: "await guarded.remove(1)", names: "remove" },
  { title: "a misspelt method of a guarded object", code: "await guarded.wype('a')", names: "wype" },
  { title: "an unknown method of an object with an interface in full", code: "await gauge.reset()", names: "reset" },
  { title: "a misspelt member of data", code: "point.xx.toFixed()", names: "xx" },
  { title: "an unknown member of what a function gives", code: "(await send('a', 'b')).status", names: "status" },
  { title: "an unknown member of what a method gives", code: "(await shelf.find(1)).name", names: "name" },
  { title: "an unknown member deep inside", code: "(await shelf.find(1)).at.column.toFixed()", names: "column" },
  { title: "an unknown member taken apart", code: "const { state } = await send('a', 'b')", names: "state" },
  {
    title: "an unknown member of what a schema gives",
    code: "(await book({ room: 'a', nights: 1 })).price",
    names: "price",
  },
  { title: "a text for a number", code: "await shelf.find('1')", names: "string" },
  { title: "a number for a text", code: "await send(1, 'hello')", names: "number" },
  { title: "a number for a text of a guarded method", code: "await guarded.wipe(1)", names: "number" },
  { title: "a boolean for a number or text", code: "await either(true)", names: "boolean" },
  { title: "a number for a word", code: "await pick(1)", names: "'1'" },
  { title: "a variable of another type", code: "const count = [1, 2].length\nawait send(count, 'a')", names: "number" },
  { title: "a text for a number of a tuple", code: "await pair('a', 'b')", names: "string" },
  { title: "a Promise for a text", code: "await send(either(1), 'hello')", names: "await" },
  { title: "an object without a member that is needed", code: "await book({ room: 'a' })", names: "nights" },
  {
    title: "an object with a member there is not",
    code: "await book({ room: 'a', nights: 1, floor: 2 })",
    names: "floor",
  },
  { title: "an empty object for a schema", code: "await book({})", names: "room" },
  { title: "a Promise of a guarded method as a number", code: "guarded.wipe('a') + 1", names: "await" },
])
