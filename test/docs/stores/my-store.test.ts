// test lane: durable, long
// The conformance test in docs/stores.md, run as it is shown there.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
// #region suite
import { test } from "node:test"
import { testStore } from "karst/testing"
// #endregion
import { open as myStore } from "./open-my-store.ts"

const folder = mkdtempSync(join(tmpdir(), "karst-docs-"))
process.once("exit", () => rmSync(folder, { recursive: true }))
let names = 0
const freshName = () => join(folder, `store ${++names}.db`)

// #region suite
testStore({
  test,
  location: () => freshName(), // a place where no store exists yet
  open: (location) => myStore(location),
  // exports the same `open`, for races between processes and kill -9
  module: new URL("./open-my-store.ts", import.meta.url),
})
// #endregion
