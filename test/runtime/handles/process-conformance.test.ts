// test lane: runtimes, long
import { after, describe, test } from "node:test"
import { testHandles } from "karst/testing"
import { processRuntime } from "../../../src/runtime/process.ts"
import { requires } from "../../system.ts"

describe("handles of processRuntime", () => {
  testHandles({ test, after, language: "typescript", runtime: () => processRuntime() })
})

describe("handles of processRuntime in a sandbox", { skip: requires("bwrap") }, () => {
  testHandles({ test, after, language: "typescript", runtime: () => processRuntime({}, { isolation: "os" }) })
})
