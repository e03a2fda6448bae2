// test lane: durable
import assert from "node:assert/strict"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { testBackend } from "karst/testing"
import { ConfigError } from "../../../src/core/errors.ts"
import { workerBackend } from "../../../src/engine/backends/worker.ts"

const pool = new URL("../../fixtures/backends/pool.ts", import.meta.url)

describe("workerBackend", () => {
  testBackend({
    test,
    open(folder, workers) {
      const module = new URL(pool)
      module.searchParams.set("folder", folder)
      return workerBackend({ module, workers, onError() {} })
    },
  })

  for (const [what, source, reason] of [
    ["cannot be imported", "throw new Error('half a module')", /half a module/],
    ["exports no engine", "export const agents = {}", /no export `engine`/],
    ["exports an engine with another backend", "export const engine = { async work() {} }", /another backend/],
    ["ends its process", "process.exit(3)", /ended with code 3/],
  ] as const) {
    test(`does not start with a module that ${what}, and says why`, async (context) => {
      const folder = mkdtempSync(join(tmpdir(), "karst-pool-"))
      context.after(() => rmSync(folder, { recursive: true }))
      const module = join(folder, "agents.mjs")
      writeFileSync(module, source)
      await assert.rejects(
        workerBackend({ module, workers: 2 }).start(async () => {}, { maxParallel: 1 }),
        reason,
      )
    })
  }

  test("needs a module, and a number of workers", () => {
    assert.throws(() => workerBackend({ module: "" }), ConfigError)
    assert.throws(() => workerBackend({ module: "agents.ts", workers: 0 }), ConfigError)
  })
})
