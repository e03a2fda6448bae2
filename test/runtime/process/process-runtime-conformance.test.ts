// test lane: runtimes, long
import { describe, test } from "node:test"
import { testRuntime } from "karst/testing"
import { processRuntime } from "../../../src/runtime/process.ts"

describe("processRuntime", () => {
  testRuntime({ test, language: "typescript", runtime: () => processRuntime() })
})
