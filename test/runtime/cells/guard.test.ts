import assert from "node:assert/strict"
import { test } from "node:test"
import { createGuard } from "../../../src/runtime/cells/guard.ts"
import { CellStopped, RunningCell, running, type Shared } from "../../../src/runtime/cells/running-cell.ts"

function cells(): Shared {
  return { cells: new Set(), gate: undefined, late: [], lateLength: 0, epoch: 0, onStop() {} }
}

function begun(shared: Shared, timeoutMs?: number): RunningCell {
  const cell = new RunningCell(shared, undefined, { timeoutMs })
  cell.begin(() => {})
  return cell
}

test("fast code asks seldom, and asks at once again after an await", () => {
  const guard = createGuard()
  const cell = begun(cells(), 60_000)
  running.run(cell, () => {
    for (let tick = 0; tick < 20; tick++) guard.tick()
    const seldom = guard.left
    assert.equal(guard.resume("value"), "value")
    assert.ok(guard.left < seldom)
  })
  cell.end()
})

test("a cell past its deadline is stopped by its own guard", () => {
  const guard = createGuard()
  const cell = begun(cells(), -1)
  running.run(cell, () => assert.throws(() => guard.tick(), CellStopped))
  assert.equal(cell.stopped?.kind, "timeout")
  running.run(cell, () => assert.throws(() => guard.resume(1), CellStopped))
  cell.end()
})

test("while something of a stopped cell may be waiting, everybody asks every time", () => {
  const guard = createGuard()
  const shared = cells()
  const [stopped, other] = [begun(shared), begun(shared)]
  stopped.stop(new CellStopped("aborted", "enough"))
  guard.watch(stopped)
  for (let tick = 0; tick < 10; tick++) running.run(other, () => guard.tick())
  assert.equal(guard.left, 0)
  running.run(stopped, () => assert.throws(() => guard.tick(), /enough/))
})

test("code that belongs to no cell is never stopped", () => {
  const guard = createGuard()
  guard.tick()
  assert.equal(guard.resume(5), 5)
})

test("code of before a reset or close does not go on", () => {
  const guard = createGuard()
  const shared = cells()
  const cell = begun(shared)
  cell.end()
  shared.epoch++
  running.run(cell, () => assert.throws(() => guard.resume(1), /reset or closed/))
})
