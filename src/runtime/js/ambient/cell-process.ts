import process from "node:process"
import { cellStorage, type SharedCellState } from "../running-cell.ts"
import { createCellStream } from "./cell-console.ts"
import type { CellTimers } from "./cell-timers.ts"

/** `process` as a cell sees it: the real one, but what it writes is captured, and it cannot end its host. */
export function createCellProcess(shared: SharedCellState, timers: CellTimers): NodeJS.Process {
  const refuse = (call: string) => () => {
    throw new Error(
      `${call} would end the program that runs this cell. End the cell instead: let its code finish or throw.`,
    )
  }
  const members: { [key: string]: unknown } = {
    get env() {
      return cellStorage.getStore()?.env.variables ?? process.env
    },
    stdout: createCellStream(shared, "stdout"),
    stderr: createCellStream(shared, "stderr"),
    exit: refuse("process.exit()"),
    abort: refuse("process.abort()"),
    reallyExit: refuse("process.reallyExit()"),
    kill(pid: number, signal?: string | number) {
      // A negative id or 0 means a whole group, which may be ours; signal 0 only asks whether it is there.
      if (signal !== 0 && (pid === process.pid || pid <= 0)) refuse(`process.kill(${pid})`)()
      return process.kill(pid, signal)
    },
    nextTick: (callback: (...args: unknown[]) => unknown, ...args: unknown[]) =>
      process.nextTick(timers.wrapCallback(callback), ...args),
    // A cell that failed says so itself: the host's exit code is the host's.
    exitCode: undefined,
  }
  return new Proxy(process, {
    get: (target, key) => Reflect.get(isOwn(key) ? members : target, key),
    set: (target, key, value) => Reflect.set(isOwn(key) ? members : target, key, value),
  })

  function isOwn(key: PropertyKey): boolean {
    return Object.hasOwn(members, key)
  }
}
