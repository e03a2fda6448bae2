// test lane: runtimes
import { describe, test } from "node:test"
import { testRuntime } from "karst/testing"
import { jsRuntime } from "../../src/runtime/js.ts"
import { processRuntime } from "../../src/runtime/process.ts"

describe("jsRuntime", () => {
  testRuntime({
    test,
    language: "typescript",
    runtime: () => jsRuntime(),
    skip: { "gate-methods": "by design: methods of an object in the same process are its own" },
  })
})

describe("processRuntime", () => {
  testRuntime({ test, language: "typescript", runtime: () => processRuntime() })
})
