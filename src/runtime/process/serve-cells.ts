import { setImmediate as turn } from "node:timers/promises"
import { type AnyFunction, type Bindings, fn, type as typeBinding, variable } from "../bindings.ts"
import { originalOf } from "../cells/call.ts"
import { uncaughtText } from "../cells/errors.ts"
import { createJsRuntime } from "../cells/js-core.ts"
import { running } from "../cells/running-cell.ts"
import { reportStray } from "../cells/timers.ts"
import { inspection } from "../declare/inspect.ts"
import { printType } from "../declare/type-tree.ts"
import { decodeBody } from "../handles/javascript-decode.ts"
import { type Frame, type FrameLink, isObject, type WireObject } from "../handles/wire.ts"
import type { CallGate, Execution, Snapshot, SnapshotLimit } from "../runtime.ts"
import { awaitable, createHostLink } from "./host-link.ts"
import { runModule } from "./modules.ts"
import { createNews } from "./news.ts"
import { createPrinter } from "./printing.ts"
import type { BindInput, ExecuteInput, NameReport, Summary } from "./protocol.ts"
import { sightsIn, type Wanted } from "./sights.ts"
import { checkDefault, checkedMember, checkFields, optionalMember, optionalMethods } from "./unawaited.ts"

export interface ServerEvents {
  /** The longest message that the host accepts. The host sends it first. */
  onLimit(maxBytes: number): void
  /** The host is gone. */
  onEnd(): void
}

export interface CellServer {
  /** Reports an error that no code of a cell could catch. */
  onStray(error: unknown): void
}

/** The child's side of a runtime in another process: a runtime whose functions and handles are the host's. The child
 *  trusts the host, so messages of the host are not checked. */
export function serveCells(link: FrameLink, events: ServerEvents): CellServer {
  const controllers = new Map<string, AbortController>()
  const pauses = new Map<string, (paused: boolean) => void>()
  const printer = createPrinter((message) => link.send({ message, buffers: [], special: false }))
  const news = createNews((message) => link.send({ message, buffers: [], special: false }))
  let latest = ""
  let undoLast: () => Promise<unknown> = async () => []

  const host = createHostLink(link, () => {
    printer.flush()
    news.tell()
  })
  const core = createJsRuntime(undefined, {}, undefined, {
    checkValue: checkedMember,
    checkFields,
    checkDefault,
    optional: optionalMember,
    optionalMethods,
    resultOf: (promise, name) => awaitable(promise, `${name}(…)`),
    onCell: host.onCell,
    onBound: host.onBound,
  })

  const onStray = (error: unknown) => {
    const cell = running.getStore()
    if (cell) reportStray(cell.shared, error)
    else printer.print(latest, { stream: "stderr", text: `${uncaughtText(error)}\n` })
  }

  // biome-ignore lint/suspicious/noExplicitAny: the host sends the input that each of these takes.
  const asks: Record<string, (input: any) => Promise<unknown>> = {
    inject: (input: BindInput) => core.inject(bindingsOf(input)),
    update: (input: BindInput) => core.update(bindingsOf(input)),
    retrieve: ({ name }: { name: string }) => core.retrieve(name),
    names: async () => Promise.all((await core.names()).map(reportOf)),
    async types({ names }: { names: string[] }) {
      const values = await Promise.all(names.map((name) => core.retrieve(name)))
      return values.map((value) => printType(inspection(() => undefined).typeOf(value)))
    },
    look: ({ wanted }: { wanted: Wanted }) => sightsIn(core, wanted, host.idOf),
    load: ({ file }: { file: string }) => runModule(file, core),
    describe: ({ names }: { names: string[] }) => core.describe(names),
    undo: () => undoLast(),
    snapshot: (limit: SnapshotLimit) => core.snapshot(limit),
    restore: ({ snapshot }: { snapshot: Snapshot }) => core.restore(snapshot),
    keep: ({ prefix, value }: { prefix: string; value: unknown }) => core.keep(prefix, value),
    reset: () => core.reset(),
    ...host.asks,
  }

  const bindingsOf = ({ entries, values }: BindInput): Bindings =>
    Object.fromEntries(
      entries.map(({ name, kind }, index) => {
        const value = values[index]
        // The handle itself is bound, and not the function under which cells knew it before.
        if (kind === "function") return [name, fn(originalOf(value) as AnyFunction)]
        return [name, kind === "type" && isObject(value) ? typeBinding(value) : variable(value)]
      }),
    )

  const reportOf = async (name: Awaited<ReturnType<typeof core.names>>[number]): Promise<NameReport> => {
    const value: unknown = await core.retrieve(name.name).catch(() => undefined)
    return isObject(value) ? { ...name, handle: host.idOf(Object(originalOf(value))) } : name
  }

  const execute = async (i: number, input: ExecuteInput & { x: string }): Promise<void> => {
    const { x, code, timeoutMs, within, transaction } = input
    const controller = new AbortController()
    const gate: CallGate = (_call, next) => next()
    host.begin(x, gate)
    controllers.set(x, controller)
    latest = x
    const env = await news.environment(x, input)
    const before = process.getActiveResourcesInfo()
    const parent = within === undefined ? undefined : host.cellOf(within)
    const run = () =>
      core.execute(code, {
        signal: controller.signal,
        timeoutMs,
        pauses(listener) {
          pauses.set(x, listener)
          return () => pauses.delete(x)
        },
        call: gate,
        env,
        transaction: transaction === "check" ? { check: () => host.check(x) } : transaction === "on",
        output: (chunk) => printer.print(x, chunk),
      })
    const execution = await (parent ? running.run(parent, run) : run())
    controllers.delete(x)
    news.forget(x)
    if (execution.ok && execution.undo) undoLast = execution.undo
    const summary = await summaryOf(execution, before)
    host.replyExecuted(i, summary, execution.ok ? execution.value : undefined, thrownBy(execution))
  }

  const answer = async (message: WireObject, frame: Frame) => {
    const { i, op } = message
    try {
      const body = decodeBody(message, frame, host.decodeReferences)
      // biome-ignore lint/suspicious/noExplicitAny: the host sends the input that is executed.
      if (op === "execute") return await execute(Number(i), body as any)
      const value = await asks[String(op)]?.(body)
      host.reply(Number(i), value, op === "retrieve" ? String(body.name) : undefined)
    } catch (error) {
      host.fail(Number(i), error)
    }
  }

  link.listen({
    onFrame(frame) {
      const { message } = frame
      if (host.take(frame)) return
      switch (message.k) {
        case "ask": {
          const { sh: _, ...body } = message
          void answer(body, frame)
          return
        }
        case "limit":
          return events.onLimit(Number(message.maxBytes))
        case "stop":
          return controllers.get(String(message.x))?.abort(new Error(String(message.message)))
        case "pause":
          return pauses.get(String(message.x))?.(message.paused === true)
      }
    },
    onEnd: events.onEnd,
  })
  return { onStray }
}

function thrownBy(execution: Execution): unknown {
  return execution.ok ? undefined : execution.thrown
}

async function summaryOf(execution: Execution, before: readonly string[]): Promise<Summary> {
  const { changes, hints } = execution
  const summary: Summary = { changes, ...(hints && { hints }) }
  if (execution.ok) {
    if (execution.preview !== undefined) summary.preview = execution.preview
    if (execution.cut) summary.cut = true
    if (execution.undo) summary.undoable = true
    return summary
  }
  const { error, notRolledBack } = execution
  if (notRolledBack) summary.notRolledBack = notRolledBack
  const isStopped = error.kind === "timeout" || error.kind === "aborted" || error.kind === "memory"
  if (isStopped && !(await isQuiet(before))) summary.unclean = true
  return { ...summary, error }
}

/** Whether no work is left that began during the cell, so that no code of a stopped cell can run later. */
async function isQuiet(before: readonly string[]): Promise<boolean> {
  await turn()
  await turn()
  const left = process.getActiveResourcesInfo()
  for (const resource of [...before, "Immediate", "Immediate"]) {
    const at = left.indexOf(resource)
    if (at >= 0) left.splice(at, 1)
  }
  return left.length === 0
}
