// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { ConfigError } from "../../../src/core/errors.ts"
import { type ProcessRuntimeOptions, processRuntime } from "../../../src/runtime/process.ts"
import { cellValue } from "../cell-results.ts"

// Options that plain JavaScript or a cast can pass.
const unchecked = (options: object) => options as ProcessRuntimeOptions

describe("processRuntime refuses, when it is made,", () => {
  for (const [what, options, told] of [
    ["an isolation that is none", { isolation: "docker" }, /`isolation` is not one of "process", "os", "auto"/],
    ["an option that is not there", { heapBytes: 5 }, /no option `heapBytes`; there is isolation, .*limits/],
    ["codecs that are none", { codecs: { Light: class {} } }, /`codecs` has "Light", which is not a codec/],
    ["a limit that is not there", { limits: { processes: 5 } }, /no option `limits\.processes`; there is heapBytes, /],
    ["a negative heap", { limits: { heapBytes: -5 } }, /`limits\.heapBytes` is not a whole number of 1 or more/],
    ["a limit that is no number", { limits: { cpuMs: "1s" } }, /`limits\.cpuMs`/],
    ["a snapshot of no bytes", { maxSnapshotBytes: 0 }, /`maxSnapshotBytes` is not a whole number of 1 or more/],
    ["a network without what confines it", { network: "none" }, /`network`: nothing confines .*isolation: "os"/],
    ["paths without what confines them", { read: ["/"], write: ["/"] }, /`read`, `write`: nothing confines/],
    ["a path that is not there", { isolation: "auto", read: ["/nowhere/at/all"] }, /`read` names "\/nowhere\/at\/all"/],
    ["a path to write that is not there", { isolation: "os", write: ["/nowhere"] }, /`write` names "\/nowhere"/],
    ["an environment of numbers", { env: { PORT: 80 } }, /`env` has a variable PORT that is not a text/],
    ["a working directory that is not there", { cwd: "/nowhere/at/all" }, /there is no folder/],
  ] as const) {
    test(what, () => {
      const made = () => processRuntime({}, unchecked(options))
      assert.throws(made, (error) => error instanceof ConfigError && told.test(error.message))
    })
  }

  test("everything that is wrong, at once", () => {
    const options = unchecked({ isolation: "docker", limits: { heapBytes: -1 }, nope: 1 })
    assert.throws(() => processRuntime({}, options), /`isolation`.*`limits\.heapBytes`.*`nope`/)
  })
})

test("what is undefined is the default, and what has no end is none", async () => {
  const options: ProcessRuntimeOptions = {
    isolation: undefined,
    network: undefined,
    limits: { cpuMs: undefined, heapBytes: Number.POSITIVE_INFINITY, memoryBytes: Number.POSITIVE_INFINITY },
    env: { GIVEN: "yes", LEFT: undefined },
  }
  await using runtime = processRuntime({}, options)
  assert.deepEqual(await cellValue(runtime, "[process.env.GIVEN, 'LEFT' in process.env]"), ["yes", false])
})
