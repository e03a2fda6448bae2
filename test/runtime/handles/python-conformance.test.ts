// test lane: runtimes
import { after, describe, test } from "node:test"
import { testHandles } from "karst/testing"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { requires } from "../../system.ts"

describe("handles of pythonRuntime", { skip: requires("python", "numpy", "pandas") }, () => {
  testHandles({ test, after, language: "python", runtime: () => pythonRuntime() })
})

describe("handles of pythonRuntime in a sandbox", { skip: requires("python", "numpy", "pandas", "bwrap") }, () => {
  testHandles({ test, after, language: "python", runtime: () => pythonRuntime({}, { isolation: "os" }) })
})
