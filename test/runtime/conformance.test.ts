import { describe, test } from "node:test"
import { testRuntime } from "karst/testing"
import { jsRuntime } from "../../src/runtime/js.ts"

describe("jsRuntime", () => {
  testRuntime({
    test,
    language: "typescript",
    runtime: () => jsRuntime(),
    skip: { "gate-methods": "by design: methods of an object in the same process are its own" },
  })
})
