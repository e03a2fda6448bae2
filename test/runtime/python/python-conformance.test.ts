// test lane: runtimes, long
import { describe, test } from "node:test"
import { testRuntime } from "karst/testing"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { requires } from "../../system.ts"

describe("pythonRuntime keeps what every runtime promises", { skip: requires("python", "numpy") }, () => {
  testRuntime({ test, language: "python", runtime: () => pythonRuntime() })
})
