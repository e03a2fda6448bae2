// test lane: unit, long
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { dataFolder, missingData } from "../../evals/harness/data.ts"
import { readRetail } from "../../evals/retail/tasks.ts"
import { provePort } from "../../evals/retail.ts"

const data = dataFolder()

test("the store returns the results of the reference, and reaches its end states", {
  skip: missingData(data, ["tau2-retail"]) ?? false,
}, async () => {
  for (const { what, passed, of, failures } of provePort(await readRetail(join(data, "tau2-retail")))) {
    assert.ok(of > 0)
    assert.equal(passed, of, `${what}: ${failures?.join("; ")}`)
  }
})
