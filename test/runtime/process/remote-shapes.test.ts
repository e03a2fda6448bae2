// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { jsRuntime } from "../../../src/runtime/js.ts"
import {
  describeShapes,
  parseRemoteShapes,
  placeholderFor,
  type RemoteShape,
  type ShapeQuery,
} from "../../../src/runtime/process/remote-shapes.ts"

const noHandle = () => undefined
const seen = async (runtime: ReturnType<typeof jsRuntime>, wanted: ShapeQuery) => {
  const sights = parseRemoteShapes(structuredClone(await describeShapes(runtime, wanted, noHandle)), wanted)
  assert.ok(sights)
  return new Map([...sights].map(([name, sight]) => [name, placeholderFor(sight, noHandle)]))
}

test("what stands for a value has its members, as deep as they were asked for, and none of its data", async () => {
  const runtime = jsRuntime({ config: { server: { port: 80 }, secret: "s" }, text: "abc", when: new Date() })
  await runtime.execute("class Lamp { level = 3; dim() {} }\nconst lamp = new Lamp(); const soon = Promise.resolve(1)")
  const found = await seen(runtime, {
    config: { server: { port: {} } },
    text: {},
    when: {},
    lamp: { dim: {} },
    soon: {},
    nobody: {},
  })
  assert.deepEqual([...found.keys()], ["config", "text", "when", "lamp"])
  const config = Object(found.get("config"))
  assert.ok("server" in config && "secret" in config && !("database" in config))
  assert.deepEqual([config.secret, "port" in config.server, config.server.port], [undefined, true, 0])
  assert.equal(found.get("text"), "")
  assert.ok("getTime" in Object(found.get("when")) && "dim" in Object(found.get("lamp")))
})

test("looking runs nothing of the values", async () => {
  const runtime = jsRuntime()
  await runtime.execute(`let ran = 0
    const trap = new Proxy({}, { ownKeys() { ran++; return [] }, getPrototypeOf() { ran++; return null } })
    const odd = { get now() { ran++; return { a: 1 } }, trap }`)
  await seen(runtime, { odd: { now: { a: {} }, trap: { x: {} } }, trap: { y: {} } })
  assert.equal(await runtime.retrieve("ran"), 0)
})

test("an answer that goes on for ever, or is none, is refused or not entered", () => {
  const sight = (parts: object): RemoteShape => ({ as: "object", plain: true, members: ["a"], parts: parts as never })
  const endless = sight({})
  Object.assign(endless, { parts: { a: endless, b: endless } })
  assert.deepEqual([...(parseRemoteShapes({ x: endless }, { x: {} }) ?? [])], [["x", sight({})]])
  let wide = sight({})
  for (let depth = 0; depth < 200; depth++) wide = sight({ a: wide, b: wide })
  assert.equal(parseRemoteShapes({ x: wide }, { x: { a: { b: {} } } })?.size, 1)
  for (const answer of [
    undefined,
    [],
    { x: 1 },
    { x: { as: "window" } },
    { x: { as: "handle", id: "1" } },
    { x: { ...sight({}), members: "abc" } },
    { x: { ...sight({}), members: Array(5000).fill("a") } },
    { x: sight({ a: 1 }) },
  ]) {
    assert.equal(parseRemoteShapes(answer, { x: { a: {} } }), undefined, JSON.stringify(answer))
  }
  assert.equal(parseRemoteShapes({ y: 1 }, { x: {} })?.size, 0)
})
