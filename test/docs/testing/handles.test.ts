// test lane: runtimes, long
// The conformance test for live handles in docs/testing.md, run as it is shown there.
// #region handles
import { after, test } from "node:test"
import { testHandles } from "karst/testing"
// #endregion
import { processRuntime as myRuntime } from "../../../src/runtime/process.ts"

// #region handles
testHandles({
  test,
  after,
  language: "typescript",
  runtime: () => myRuntime(),
  skip: { 314: "by design: it collects no garbage" },
})
// #endregion
