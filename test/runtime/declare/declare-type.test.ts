import assert from "node:assert/strict"
import { test } from "node:test"
import { classType, fn, variable } from "../../../src/runtime/bindings.ts"
import { impliedClasses } from "../../../src/runtime/declare/declaration-block.ts"
import { bound, declared } from "./declare-text.ts"

class Light {
  brightness = 0
  dim(level: number) {
    this.brightness = level
  }
}

const add = (name: string) => ({ name })

test("type with schema false shows the name and the documentation only", () => {
  const text = declared({ Light: classType(Light, { schema: false, description: "A lamp" }), light: new Light() })
  assert.equal(text, "/** A lamp */\ndeclare class Light {}\ndeclare const light: Light")
})

test("type with doc false shows the members and no documentation", () => {
  class Lamp {
    /** In percent. */
    level = 0
  }
  const text = declared({ Lamp: classType(Lamp, { doc: false, description: "A lamp" }) })
  assert.equal(text, "declare class Lamp { // inferred\n  level: number\n}")
})

test("type with neither shows nothing, and the name can still be used for instances", () => {
  const hidden = classType(Light, { schema: false, doc: false })
  assert.equal(declared({ Light: hidden }), "")
  assert.equal(declared({ Light: hidden, light: new Light() }), "declare const light: Light")
})

test("an instance is shown under the name its class was bound by", () => {
  assert.match(declared({ Lamp: classType(Light), light: new Light() }), /declare const light: Lamp$/)
})

test("a bound class learns the types of its fields from an injected instance", () => {
  class Task {
    name: string
    constructor(name: string) {
      this.name = name
    }
  }
  assert.match(declared({ Task: classType(Task) }), /name: any/)
  assert.match(declared({ Task: classType(Task), task: new Task("a") }), /name: string/)
})

test("an enum shows names and values without the numbers that lead back", () => {
  const Color = { 0: "Red", 1: "Blue", Red: 0, Blue: 1 }
  assert.equal(declared({ Color: classType(Color) }), "declare enum Color { Red = 0, Blue = 1 }")
})

test("a frozen object used as an enum shows names and values, whatever the names", () => {
  const Status = Object.freeze({ Open: "open", "not-yet": 'a "quoted" one', Rank: -1 })
  assert.equal(
    declared({ Status: classType(Status) }),
    'declare enum Status { Open = "open", "not-yet" = "a \\"quoted\\" one", Rank = -1 }',
  )
})

test("an object given as a type that is no enum is shown by its shape", () => {
  assert.equal(
    declared({ Config: classType({ deep: { secret: "s3cret" } }) }),
    "declare const Config: { deep: { secret: string } } // inferred",
  )
})

test("classes of injected instances are implied, also those inside collections and fields", () => {
  class Room {
    lamps = [new Light()]
  }
  const implied = impliedClasses(bound({ rooms: new Map([["hall", new Room()]]), one: 1 }))
  assert.deepEqual(
    [...implied],
    [
      ["Room", Room],
      ["Light", Light],
    ],
  )
})

test("an explicit type wins over an implied one", () => {
  assert.equal(impliedClasses(bound({ Light: classType(Light), light: new Light() })).size, 0)
  assert.equal(impliedClasses(bound({ Lamp: classType(Light), light: new Light() })).size, 0)
})

test("a class is not implied where another binding has its name, and its members are shown in place", () => {
  const bindings = { Light: variable("taken"), light: new Light() }
  assert.equal(impliedClasses(bound(bindings)).size, 0)
  assert.match(declared(bindings), /declare const light: \{ brightness: number; dim\(level\?: unknown\): any \}/)
})

test("of two classes with one name the first is implied", () => {
  const other = (() => {
    class Light {
      watts = 5
    }
    return Light
  })()
  const bindings = { a: new Light(), b: new other() }
  assert.deepEqual([...impliedClasses(bound(bindings))], [["Light", Light]])
  assert.match(declared(bindings), /declare const b: \{ watts: number \}/)
})

test("built-in classes, classes named like a global and anonymous ones are not implied", () => {
  class Event {}
  const anonymous = new (class {})()
  const bindings = { date: new Date(), url: new URL("http://a"), event: new Event(), anonymous, error: new TypeError() }
  assert.equal(impliedClasses(bound(bindings)).size, 0)
  assert.match(declared(bindings), /declare let url: URL/)
})

test("a signature that names the class of an injected instance stands beside that class", () => {
  const text = declared({ dim: fn(add, { signature: "(light: Light) => void" }), light: new Light() })
  assert.ok(text.indexOf("declare class Light") < text.indexOf("declare function dim"))
})
