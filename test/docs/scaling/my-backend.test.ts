// test lane: durable, long
// The conformance test in docs/scaling.md, run as it is shown there.
// #region suite
import { test } from "node:test"
import { testBackend } from "karst/testing"
// #endregion
import { open as myBackend } from "./open.ts"
import { withRedis } from "./with-redis.ts"

withRedis("a backend of one's own", () => {
  // #region suite
  testBackend({ test, open: (folder) => myBackend(folder), module: new URL("./open.ts", import.meta.url) })
  // #endregion
})
