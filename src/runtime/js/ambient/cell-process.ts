// `process` of a cell: the real one, except that its output is captured and that it cannot end the host.
import process from "node:process"
import { cellStorage, type SharedCellState } from "../running-cell.ts"
import { createCellStream } from "./cell-console.ts"
import type { CellTimers } from "./cell-timers.ts"

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
      // A negative id or 0 addresses a process group, which may be ours; signal 0 only tests for existence.
      if (signal !== 0 && (pid === process.pid || pid <= 0)) refuse(`process.kill(${pid})`)()
      return process.kill(pid, signal)
    },
    nextTick: (callback: (...args: unknown[]) => unknown, ...args: unknown[]) =>
      process.nextTick(timers.wrapCallback(callback), ...args),
    // The host's exit code belongs to the host; a failed cell reports its own error.
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
