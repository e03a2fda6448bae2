import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { ConfigError } from "../../src/core/errors.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { type PythonRuntimeOptions, pythonRuntime } from "../../src/runtime/python.ts"

// Options that plain JavaScript, or a cast, can pass.
const unchecked = (options: object) => options as PythonRuntimeOptions

describe("pythonRuntime refuses, when it is made,", () => {
  for (const [what, options, told] of [
    ["an isolation that is none", { isolation: "docker" }, /`isolation` is not one of "process", "os", "auto"/],
    ["a network that is none", { isolation: "auto", network: "some" }, /`network` is not one of "none", "all"/],
    ["an option that is not there", { memoryBytes: 5 }, /no option `memoryBytes`; there is isolation, .*limits/],
    [
      "a limit that is not there",
      { limits: { heapBytes: 5 } },
      /no option `limits\.heapBytes`; there is memoryBytes, /,
    ],
    ["a negative limit", { limits: { memoryBytes: -1 } }, /`limits\.memoryBytes` is not a whole number of 1 or more/],
    ["no memory", { limits: { memoryBytes: 0 } }, /`limits\.memoryBytes`/],
    ["a limit that is no number", { limits: { cpuMs: "1s" } }, /`limits\.cpuMs`/],
    [
      "a limit that is not a number",
      { limits: { graceMs: Number.NaN } },
      /`limits\.graceMs` is not a whole number of 0 or more/,
    ],
    ["limits that are a number", { limits: 5 }, /`limits` is not an object/],
    ["a path that is no list", { isolation: "auto", read: "/data" }, /`read` is not an array of paths/],
    ["an environment of numbers", { env: { PORT: 80 } }, /`env` has a variable PORT that is not a text/],
    ["setup that is no code", { setup: { path: "x" } }, /no option `setup\.path`; there is file/],
    ["rules that are one", { rules: {} }, /`rules` is not an array/],
    ["a network without what confines it", { network: "none" }, /`network`: nothing confines .*isolation: "os"/],
    ["paths without what confines them", { read: ["/"], write: ["/"] }, /`read`, `write`: nothing confines/],
  ] as const) {
    test(what, () => {
      const made = () => pythonRuntime({}, unchecked(options))
      assert.throws(made, (error) => error instanceof ConfigError && told.test(error.message))
    })
  }

  test("everything that is wrong, at once", () => {
    const options = unchecked({ isolation: "docker", limits: { cpuMs: -1 }, nope: 1 })
    assert.throws(() => pythonRuntime({}, options), /`isolation`.*`limits\.cpuMs`.*`nope`/)
  })

  test("a function that is bound as sync, as it refuses one that is injected or given later", async () => {
    const sync = fn(() => 1, { sync: true })
    assert.throws(() => pythonRuntime({ sync }), /"sync" is bound as sync, which only jsRuntime can do/)
    await using runtime = pythonRuntime()
    await assert.rejects(runtime.inject({ sync }), ConfigError)
  })
})

test("what is undefined is the default", async () => {
  const options = {
    isolation: undefined,
    network: undefined,
    limits: { cpuMs: undefined, graceMs: 0 },
    setup: undefined,
  }
  await using runtime = pythonRuntime({}, options)
  assert.equal(runtime.isolation, "process")
})
