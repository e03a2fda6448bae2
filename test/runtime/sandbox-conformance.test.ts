// test lane: runtimes, long
import { tmpdir } from "node:os"
import { after, describe, test } from "node:test"
import { testHandles, testRuntime } from "karst/testing"
import { processRuntime } from "../../src/runtime/process.ts"
import { pythonRuntime } from "../../src/runtime/python.ts"
import { requires } from "../system.ts"

describe("processRuntime in a sandbox", { skip: requires("bwrap") }, () => {
  testRuntime({
    test,
    language: "typescript",
    runtime: () => processRuntime({}, { isolation: "os", read: [tmpdir()] }),
  })
})

describe("handles of pythonRuntime in a sandbox", { skip: requires("python", "numpy", "pandas", "bwrap") }, () => {
  testHandles({ test, after, language: "python", runtime: () => pythonRuntime({}, { isolation: "os" }) })
})
