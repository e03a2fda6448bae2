// test lane: clis
import assert from "node:assert/strict"
import { test } from "node:test"
import { environmentDefaults } from "../../src/providers/environment-defaults.ts"

test("the environment names providers in order, a model and an effort; what is empty says nothing", () => {
  assert.deepEqual(
    environmentDefaults({ KARST_PROVIDER: " codex, claude ,", KARST_MODEL: "fast", KARST_EFFORT: "high" }),
    {
      providers: ["codex", "claude"],
      model: "fast",
      reasoning: "high",
      autoWait: true,
    },
  )
  assert.deepEqual(environmentDefaults({ KARST_PROVIDER: "", KARST_MODEL: "" }), {
    providers: undefined,
    model: undefined,
    reasoning: undefined,
    autoWait: true,
  })
})

test("waiting for limits is turned off by 0, false, no and off, in any case", () => {
  for (const value of ["0", "false", "No", "OFF"])
    assert.equal(environmentDefaults({ KARST_AUTOWAIT: value }).autoWait, false)
  for (const value of ["1", "yes", "", "nope"])
    assert.equal(environmentDefaults({ KARST_AUTOWAIT: value }).autoWait, true)
})
