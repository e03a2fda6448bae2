import assert from "node:assert/strict"
import { test } from "node:test"
import { createLoopGuard } from "../../../src/runtime/js/loop-guard.ts"
import { CellStopped, cellStorage, RunningCell, type SharedCellState } from "../../../src/runtime/js/running-cell.ts"

function cells(): SharedCellState {
  return { cells: new Set(), gate: undefined, lateOutput: [], lateOutputLength: 0, epoch: 0, onCellStopped() {} }
}

function begun(shared: SharedCellState, timeoutMs?: number): RunningCell {
  const cell = new RunningCell(shared, undefined, { timeoutMs })
  cell.begin(() => {})
  return cell
}

test("fast code asks seldom, and asks at once again after an await", () => {
  const guard = createLoopGuard()
  const cell = begun(cells(), 60_000)
  cellStorage.run(cell, () => {
    for (let tick = 0; tick < 20; tick++) guard.tick()
    const seldom = guard.left
    assert.equal(guard.resume("value"), "value")
    assert.ok(guard.left < seldom)
  })
  cell.end()
})

test("a cell past its deadline is stopped by its own guard", () => {
  const guard = createLoopGuard()
  const cell = begun(cells(), -1)
  cellStorage.run(cell, () => assert.throws(() => guard.tick(), CellStopped))
  assert.equal(cell.stopped?.kind, "timeout")
  cellStorage.run(cell, () => assert.throws(() => guard.resume(1), CellStopped))
  cell.end()
})

test("while something of a stopped cell may be waiting, everybody asks every time", () => {
  const guard = createLoopGuard()
  const shared = cells()
  const [stopped, other] = [begun(shared), begun(shared)]
  stopped.stop(new CellStopped("aborted", "enough"))
  guard.watchStoppedCell(stopped)
  for (let tick = 0; tick < 10; tick++) cellStorage.run(other, () => guard.tick())
  assert.equal(guard.left, 0)
  cellStorage.run(stopped, () => assert.throws(() => guard.tick(), /enough/))
})

test("code that belongs to no cell is never stopped", () => {
  const guard = createLoopGuard()
  guard.tick()
  assert.equal(guard.resume(5), 5)
})

test("code of before a reset or close does not go on", () => {
  const guard = createLoopGuard()
  const shared = cells()
  const cell = begun(shared)
  cell.end()
  shared.epoch++
  cellStorage.run(cell, () => assert.throws(() => guard.resume(1), /reset or closed/))
})
