import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, test } from "node:test"
import { gatherTypes } from "../scripts/gather-types.ts"

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "karst-gather-types-"))
})

afterEach(() => rmSync(folder, { recursive: true }))

describe("the types of the build", () => {
  test("are in one file, without what no public module needs, and with the comments of the rest", () => {
    write("index.d.ts", 'export { type Step, run } from "./run/run.ts";')
    write(
      "run/run.d.ts",
      'import type { Part } from "./part.ts";\n/** One step. */\nexport interface Step {\n    part: Part;\n}\nexport declare function run(step: Step): void;\nexport declare function hidden(): void;',
    )
    write("run/part.d.ts", "export type Part = string;\nexport type Unused = number;")
    gather(["index"])
    assert.deepEqual(readdirSync(folder).sort(), ["index.d.ts", "types.d.ts"])
    assert.equal(read("index.d.ts"), 'export { type Step, run } from "./types.js";\n')
    assert.equal(
      read("types.d.ts"),
      "/** One step. */\nexport interface Step {\n\tpart: Part;\n}\nexport type Part = string;\nexport declare function run(step: Step): void;\n",
    )
  })

  test("give the second of two things with one name another name, and public modules export it as before", () => {
    write("index.d.ts", 'export { type Step } from "./a.ts";')
    write("more.d.ts", 'export { type Step } from "./b.ts";')
    write("a.d.ts", "export interface Step {\n    next: Step;\n}")
    write("b.d.ts", "export interface Step {\n    before: Step;\n}")
    gather(["index", "more"])
    assert.equal(read("more.d.ts"), 'export { type Step_2 as Step } from "./types.js";\n')
    assert.match(
      read("types.d.ts"),
      /interface Step \{\n\tnext: Step;\n\}\nexport interface Step_2 \{\n\tbefore: Step_2;/,
    )
  })

  test("keep a global name global where another module declares the same", () => {
    write("index.d.ts", 'export { fetchIt } from "./a.ts";\nexport type { Response } from "./b.ts";')
    write("a.d.ts", "export declare function fetchIt(): Promise<Response>;")
    write("b.d.ts", "export interface Response {\n    ours: true;\n}")
    gather(["index"])
    assert.equal(read("index.d.ts"), 'export { fetchIt, type Response_2 as Response } from "./types.js";\n')
    assert.match(read("types.d.ts"), /Promise<Response>/)
  })

  test("follow import types, imports of whole modules and additions to an interface of another module", () => {
    write("index.d.ts", 'export { a, b, type Run } from "./a.ts";')
    write(
      "a.d.ts",
      'import * as check from "./deep/check.ts";\nimport type { Run } from "./run.ts";\nexport declare const a: check.Check<Run>;\nexport declare const b: import("./deep/check.ts").Other<string>;\nexport type { Run } from "./run.ts";',
    )
    write("deep/check.d.ts", "export type Check<T> = T;\nexport interface Other<T> {\n    value: T;\n}")
    write("run.d.ts", "export interface Run {\n    id: string;\n}")
    write(
      "added.d.ts",
      'type Filter = () => boolean;\ndeclare module "./run.ts" {\n    interface Run {\n        filter: Filter;\n    }\n}\nexport {};',
    )
    gather(["index"])
    const text = read("types.d.ts")
    assert.match(text, /^export declare const a: Check<Run>;$/m)
    assert.match(text, /^export declare const b: Other<string>;$/m)
    assert.match(text, /^export interface Run \{\s+filter: Filter;/m)
    assert.match(text, /^export type Filter = /m)
  })

  test("need an optional package only in the module that imports it", () => {
    write("index.d.ts", 'export type { Event } from "./event.ts";')
    write("event.d.ts", "export interface Event {\n    type: string;\n}")
    write(
      "traced.d.ts",
      'import type { Tracer } from "tracing";\nimport type { Event } from "./event.ts";\nexport declare function traced(tracer: Tracer): (event: Event) => void;',
    )
    gather(["index", "traced"], ["tracing"])
    assert.doesNotMatch(read("types.d.ts"), /tracing|traced/)
    assert.match(read("traced.d.ts"), /^import type \{ Tracer \} from "tracing";$/m)
    assert.match(read("traced.d.ts"), /^import type \{ Event \} from "\.\/types\.js";$/m)
  })

  test("have the same new name in a module that keeps its own declarations", () => {
    write("index.d.ts", 'export type { Event } from "./a.ts";')
    write("a.d.ts", "export interface Event {\n    type: string;\n}")
    write("b.d.ts", "export interface Event {\n    ours: true;\n}")
    write(
      "traced.d.ts",
      'import type { Tracer } from "tracing";\nimport type { Event } from "./b.ts";\nexport declare function traced(tracer: Tracer): Event;',
    )
    gather(["index", "traced"], ["tracing"])
    assert.match(read("traced.d.ts"), /^import type \{ Event_2 \} from "\.\/types\.js";$/m)
    assert.match(read("traced.d.ts"), /\): Event_2;$/m)
  })

  test("are refused when a module that is not public imports an optional package", () => {
    write("index.d.ts", 'export { traced } from "./inner.ts";')
    write("inner.d.ts", 'import type { Tracer } from "tracing";\nexport declare function traced(tracer: Tracer): void;')
    assert.throws(
      () => gather(["index"], ["tracing"]),
      /inner\.d\.ts imports the types of the optional package tracing/,
    )
  })

  test("a type-only export of a class stays type-only", () => {
    write("index.d.ts", 'export type { Light } from "./light.ts";')
    write("light.d.ts", "export declare class Light {\n    on: boolean;\n}")
    gather(["index"])
    assert.equal(read("index.d.ts"), 'export { type Light } from "./types.js";\n')
  })
})

function gather(entries: string[], optional: string[] = []): void {
  gatherTypes(folder, entries, new Set(optional))
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

function read(path: string): string {
  return readFileSync(join(folder, path), "utf8")
}
