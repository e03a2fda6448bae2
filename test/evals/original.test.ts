// test lane: runtimes
import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { measureCaveAgent } from "../../evals/original.ts"
import { python, requires } from "../system.ts"

describe("the suite original", { skip: requires("python") }, () => {
  const { signal } = new AbortController()

  test("skips CaveAgent by name if it cannot be imported", async () => {
    const outcome = await measureCaveAgent(signal, {
      ...process.env,
      KARST_PYTHON: python(),
      KARST_CAVE_AGENT: "/none",
    })
    assert.ok("skipped" in outcome)
    assert.equal(outcome.skipped.what, "CaveAgent")
    assert.match(outcome.skipped.why, /No module named 'cave_agent'; name its checkout in KARST_CAVE_AGENT$/)
  })

  test("reports each measurement that a version of CaveAgent does not allow, and goes on", async () => {
    const folder = await mkdtemp(join(tmpdir(), "karst-original-"))
    try {
      await mkdir(join(folder, "src/cave_agent/models"), { recursive: true })
      await writeFile(join(folder, "src/cave_agent/models/__init__.py"), "")
      const code = "class Model: pass\nclass TokenUsage: pass\nclass ModelResponse: pass\nclass CaveAgent: pass\n"
      await writeFile(join(folder, "src/cave_agent/__init__.py"), code)
      const outcome = await measureCaveAgent(signal, {
        ...process.env,
        KARST_PYTHON: python(),
        KARST_CAVE_AGENT: folder,
      })
      assert.ok("findings" in outcome)
      assert.match(outcome.findings.cell_ms?.error ?? "", /No module named 'cave_agent.runtime'/)
      assert.equal(Object.keys(outcome.findings).length, 8)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
