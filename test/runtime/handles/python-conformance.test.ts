// test lane: runtimes, long
import { after, describe, test } from "node:test"
import { testHandles } from "karst/testing"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { requires } from "../../system.ts"

describe("handles of pythonRuntime", { skip: requires("python", "numpy", "pandas") }, () => {
  testHandles({ test, after, language: "python", runtime: () => pythonRuntime() })
})
