// The child's side of processRuntime: runs cells in a runtime whose functions and handles belong to the host. The child
// trusts the host, so it does not check the host's messages.
import { setImmediate as nextImmediate } from "node:timers/promises"
import { isObject } from "../../../core/object.ts"
import { type AnyFunction, type Bindings, fn, classType as typeBinding, variable } from "../../bindings.ts"
import { markInferred } from "../../declare/declare-type-binding.ts"
import { createInspector } from "../../declare/inspect-value.ts"
import { createTableCounter } from "../../declare/table-counts.ts"
import { sampleTexts } from "../../declare/table-sample.ts"
import { printType } from "../../declare/type-tree.ts"
import { decodeBody } from "../../handles/codec/javascript-decode.ts"
import type { Frame, FrameLink, WireObject } from "../../handles/wire.ts"
import { formatUncaught, printUncaught } from "../../js/cell-errors.ts"
import { createJsRuntime } from "../../js/js-core.ts"
import { unwrapProxy } from "../../js/proxies/function-proxy.ts"
import { cellStorage } from "../../js/running-cell.ts"
import type { CallGate, CellExecution, RuntimeSnapshot, SnapshotLimit } from "../../runtime.ts"
import { injectModuleExports } from "../child-modules.ts"
import type { BindInput, ExecuteInput, ExecutionSummary, NameReport } from "../child-protocol.ts"
import { describeShapes, type ShapeQuery } from "../remote-shapes.ts"
import { createEnvUpdates } from "./env-updates.ts"
import { awaitableResult, createHostConnection } from "./host-connection.ts"
import { createOutputBatcher } from "./output-batcher.ts"
import {
  optionalMember,
  optionalMethods,
  refuseDefault,
  refuseLogicalAssignment,
  refuseUnawaited,
} from "./unawaited-members.ts"

export interface ServerEvents {
  /** The largest message that the host accepts. This is the host's first message. */
  onLimit(maxBytes: number): void
  /** The host is gone. */
  onEnd(): void
  /** Listens for requests to stop an execution. Returns a function that reads them without waiting. */
  listenForStops: (onStop: (execution: string, message: string) => void) => () => void
}

export function serveCells(link: FrameLink, events: ServerEvents) {
  const controllers = new Map<string, AbortController>()
  const pauses = new Map<string, (paused: boolean) => void>()
  const output = createOutputBatcher((message) => link.send({ message, buffers: [], special: false }))
  const envUpdates = createEnvUpdates((message) => link.send({ message, buffers: [], special: false }))
  let latestExecution = ""
  let undoLast: () => Promise<unknown> = async () => []

  const host = createHostConnection(link, () => {
    output.flush()
    envUpdates.flush()
  })
  const stop = (x: string, message: string) => controllers.get(x)?.abort(new Error(message))
  const core = createJsRuntime(undefined, {}, undefined, {
    readStopRequests: events.listenForStops(stop),
    checkValue: refuseUnawaited,
    checkFields: refuseLogicalAssignment,
    checkDefault: refuseDefault,
    optional: optionalMember,
    optionalMethods,
    wrapCallResult: (promise, name) => awaitableResult(promise, `${name}(…)`),
    onCell: host.onCell,
    onFunctionBound: host.onBound,
  })

  const reportUncaught = (error: unknown) => {
    const cell = cellStorage.getStore()
    if (cell) printUncaught(cell.shared, error)
    else output.print(latestExecution, { stream: "stderr", text: `${formatUncaught(error)}\n` })
  }

  // biome-ignore lint/suspicious/noExplicitAny: the host sends the input that each of these takes.
  const requests: Record<string, (input: any) => Promise<unknown>> = {
    inject: (input: BindInput) => core.inject(bindingsOf(input)),
    update: (input: BindInput) => core.update(bindingsOf(input)),
    trackInjected: () => core.trackInjected(),
    retrieve: ({ name }: { name: string }) => core.retrieve(name),
    names: async () => Promise.all((await core.names()).map(reportOf)),
    async types({ names }: { names: string[] }) {
      const values = await Promise.all(names.map((name) => core.retrieve(name)))
      const tables = createTableCounter()
      return values.map((value) => {
        const type = createInspector(() => undefined, undefined, undefined, tables).typeOf(value)
        return markInferred(printType(type), type.kind === "array" ? type.rows : undefined)
      })
    },
    samples: async ({ names, counts }: { names: string[]; counts: number[] }) =>
      Promise.all(names.map(async (name, index) => sampleTexts(await core.retrieve(name), counts[index] ?? 0))),
    look: ({ wanted }: { wanted: ShapeQuery }) => describeShapes(core, wanted, host.idOf),
    load: ({ file }: { file: string }) => injectModuleExports(file, core),
    describe: ({ names }: { names: string[] }) => core.describe(names),
    undo: () => undoLast(),
    // The message has other fields too.
    snapshot: ({ maxBytes, since, within }: SnapshotLimit & { within?: string }) =>
      runWithin(within, () => core.snapshot({ maxBytes, since })),
    restore: ({ snapshot }: { snapshot: RuntimeSnapshot }) => core.restore(snapshot),
    keep: ({ prefix, value }: { prefix: string; value: unknown }) => core.keep(prefix, value),
    forget: ({ names }: { names: string[] }) => core.forget(names),
    reset: () => core.reset(),
    ...host.objectOperations,
  }

  const bindingsOf = ({ entries, values }: BindInput): Bindings =>
    Object.fromEntries(
      entries.map(({ name, kind }, index) => {
        const value = values[index]
        // Bind the handle itself, not the function under which cells knew it before.
        if (kind === "function") return [name, fn(unwrapProxy(value) as AnyFunction)]
        return [name, kind === "type" && isObject(value) ? typeBinding(value) : variable(value)]
      }),
    )

  const reportOf = async (name: Awaited<ReturnType<typeof core.names>>[number]): Promise<NameReport> => {
    const value: unknown = await core.retrieve(name.name).catch(() => undefined)
    return isObject(value) ? { ...name, handle: host.idOf(Object(unwrapProxy(value))) } : name
  }

  /** Runs work that a cell waits for as a part of that cell, so that it does not wait for the cell's end. */
  const runWithin = <T>(execution: string | undefined, work: () => T): T => {
    const cell = execution === undefined ? undefined : host.cellOf(execution)
    return cell ? cellStorage.run(cell, work) : work()
  }

  const execute = async (i: number, input: ExecuteInput & { x: string }): Promise<void> => {
    const { x, code, timeoutMs, within, transaction, maxPreviewChars, keepCutValue, allowFinish } = input
    const controller = new AbortController()
    const gate: CallGate = (_call, next) => next()
    host.beginExecution(x, gate)
    controllers.set(x, controller)
    latestExecution = x
    if (input.trackInjected) await core.trackInjected()
    const env = await envUpdates.environmentFor(x, input)
    const before = process.getActiveResourcesInfo()
    const run = () =>
      core.execute(code, {
        signal: controller.signal,
        timeoutMs,
        subscribeToPauses(listener) {
          pauses.set(x, listener)
          return () => pauses.delete(x)
        },
        callGate: gate,
        env,
        maxPreviewChars,
        keepCutValue,
        allowFinish,
        transaction: transaction === "check" ? { check: () => host.requestTransactionCheck(x) } : transaction === "on",
        onOutput: (chunk) => output.print(x, chunk),
      })
    const execution = await runWithin(within, run)
    controllers.delete(x)
    envUpdates.endExecution(x)
    if (execution.ok && execution.undo) undoLast = execution.undo
    const summary = await summaryOf(execution, before)
    host.replyExecuted(i, summary, execution.ok ? execution.value : undefined, thrownOf(execution))
  }

  const answer = async (message: WireObject, frame: Frame) => {
    const { i, op } = message
    try {
      const body = decodeBody(message, frame, host.decodeReferences)
      // biome-ignore lint/suspicious/noExplicitAny: the host sends the input that is executed.
      if (op === "execute") return await execute(Number(i), body as any)
      const value = await requests[String(op)]?.(body)
      host.reply(Number(i), value, op === "retrieve" ? String(body.name) : undefined)
    } catch (error) {
      host.fail(Number(i), error)
    }
  }

  link.listen({
    onFrame(frame) {
      const { message } = frame
      if (host.handleFrame(frame)) return
      switch (message.k) {
        case "ask": {
          const { sh: _, ...body } = message
          void answer(body, frame)
          return
        }
        case "limit":
          return events.onLimit(Number(message.maxBytes))
        case "stop":
          return stop(String(message.x), String(message.message))
        case "pause":
          return pauses.get(String(message.x))?.(message.paused === true)
      }
    },
    onEnd: events.onEnd,
  })
  return { reportUncaught }
}

function thrownOf(execution: CellExecution): unknown {
  return execution.ok ? undefined : execution.thrown
}

async function summaryOf(execution: CellExecution, before: readonly string[]): Promise<ExecutionSummary> {
  const { changes, hints, types } = execution
  const summary: ExecutionSummary = { changes, ...(types && { types }), ...(hints && { hints }) }
  if (execution.ok) {
    if (execution.endsInUndefined) summary.endsInUndefined = true
    if (execution.preview !== undefined) summary.preview = execution.preview
    if (execution.truncated) summary.cut = true
    if (execution.kept !== undefined) summary.kept = execution.kept
    if (execution.finishText !== undefined) summary.finishText = execution.finishText
    if (execution.undo) summary.undoable = true
    return summary
  }
  const { error, notRolledBack } = execution
  if (notRolledBack) summary.notRolledBack = notRolledBack
  const isStopped = error.kind === "timeout" || error.kind === "aborted" || error.kind === "memory"
  if (isStopped && !(await hasNoWorkLeft(before))) summary.unclean = true
  return { ...summary, error }
}

/** Returns true if no work that began during the cell is left, so that no code of a stopped cell can run later. */
async function hasNoWorkLeft(before: readonly string[]): Promise<boolean> {
  await nextImmediate()
  await nextImmediate()
  const left = process.getActiveResourcesInfo()
  for (const resource of [...before, "Immediate", "Immediate"]) {
    const at = left.indexOf(resource)
    if (at >= 0) left.splice(at, 1)
  }
  return left.length === 0
}
