// test lane: durable, long
// The conformance tests in docs/testing.md, run as they are shown there.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
// #region suites
import { test } from "node:test"
import { testRuntime, testStore, testWorkspace } from "karst/testing"
// #endregion
import { jsRuntime as myRuntime } from "../../../src/runtime/js.ts"
import { sqliteStore } from "../../../src/stores/sqlite-store.ts"
import { memoryWorkspace as myWorkspace } from "../../../src/workspaces/memory.ts"

const folders = mkdtempSync(join(tmpdir(), "karst-docs-"))
process.once("exit", () => rmSync(folders, { recursive: true }))
const freshFolder = () => mkdtempSync(join(folders, "store-"))
const myStore = (location: string) => sqliteStore(join(location, "karst.db"), { sync: false })

// #region suites
testRuntime({
  test,
  language: "typescript",
  runtime: () => myRuntime(),
  skip: { "gate-methods": "by design: its objects are in the same process" },
})
testWorkspace({ test, workspace: () => myWorkspace() })
testStore({ test, location: () => freshFolder(), open: (location) => myStore(location) })
// #endregion
