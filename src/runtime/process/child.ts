import { Socket } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { type Bindings, fn, type as typeBinding, variable } from "../bindings.ts"
import { originalOf } from "../cells/call.ts"
import { cellFrames, uncaughtText } from "../cells/errors.ts"
import { createJsRuntime } from "../cells/js-core.ts"
import { type RunningCell, running } from "../cells/running-cell.ts"
import { reportStray } from "../cells/timers.ts"
import { inspection } from "../declare/inspect.ts"
import { printType } from "../declare/type-tree.ts"
import { inspectShort } from "../preview.ts"
import type { CallGate, Execution, Snapshot } from "../runtime.ts"
import { openChannel } from "./channel.ts"
import { CannotCross, type Crossing, pack, reviveError, type Stand, unpack } from "./crossing.ts"
import { keepCompiled } from "./keep-compiled.ts"
import { runModule } from "./modules.ts"
import { createNews } from "./news.ts"
import { createPrinter } from "./printing.ts"
import type { Ask, BindInput, ExecuteInput, FromChild, NameReport, Operation, Summary, ToChild } from "./protocol.ts"
import { createProxies } from "./proxies.ts"
import { sightsIn, type Wanted } from "./sights.ts"

// The program of a child: a runtime of its own whose functions and handles are the host's. The host is trusted here, and
// what it sends is taken as it is typed.

const core = createJsRuntime(undefined, {})
const stubs = new Map<string, (...args: unknown[]) => unknown>()
const stubNames = new WeakMap<object, string>()
const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>()
const controllers = new Map<number, AbortController>()
const pauses = new Map<number, (paused: boolean) => void>()
const executionOf = new WeakMap<CallGate, number>()
const cells = new Map<number, RunningCell>()
let calls = 0
let latest = 0

const proxies = createProxies(callHost, (id, count) => {
  if (released.push([id, count]) === 1) setImmediate(() => post({ type: "release", handles: released.splice(0) }))
})
const released: [number, number][] = []

const channel = openChannel(new Socket({ fd: 3 }), {
  maxBytes: Number.POSITIVE_INFINITY,
  onMessage: (message) => receive(message as ToChild),
  // The host is gone, and nobody else may be served.
  onEnd: () => process.kill(process.pid, "SIGKILL"),
})

const printer = createPrinter((message) => channel.send(message))
const news = createNews((message) => channel.send(message))

keepCompiled()

process.on("uncaughtException", stray)
process.on("unhandledRejection", (reason) => {
  // Those of cells are reported by their runtime.
  if (!running.getStore()) stray(reason)
})

function stray(error: unknown): void {
  const cell = running.getStore()
  if (cell) reportStray(cell.shared, error)
  else printer.print(latest, { stream: "stderr", text: `${uncaughtText(error)}\n` })
}

function receive(message: ToChild): void {
  switch (message.type) {
    case "ask":
      void answer(message)
      return
    case "limit":
      channel.maxSent = message.maxBytes
      return
    case "stop":
      controllers.get(message.id)?.abort(new Error(message.message))
      return
    case "pause":
      pauses.get(message.id)?.(message.paused)
      return
    case "answer": {
      const call = waiting.get(message.id)
      waiting.delete(message.id)
      const value = arrived(message.value)
      if (message.ok) call?.resolve(value)
      else call?.reject(value)
    }
  }
}

async function answer({ id, ask, input }: Extract<ToChild, { type: "ask" }>): Promise<void> {
  const result = { type: "result", id, ok: true } as const
  try {
    if (ask === "execute") return told(await execute(arrived(input) as ExecuteInput, id), result)
    const value = await asks[ask](arrived(input))
    post({ ...result, value: ask === "retrieve" ? (value as Crossing) : { body: value } })
  } catch (error) {
    post({ ...result, ok: false, value: leaving(error, "the error") })
  }
}

function told(summary: Summary, result: Pick<Extract<FromChild, { type: "result" }>, "type" | "id" | "ok">): void {
  try {
    post({ ...result, value: { body: summary } })
  } catch {
    // That an array has a method of its own, or a value is too long, is only seen when it is written.
    post({ ...result, value: { body: { ...summary, value: undefined, thrown: undefined } } })
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the host sends what each of these takes.
const asks: Record<Exclude<Ask, "execute">, (input: any) => Promise<unknown>> = {
  inject: (input: BindInput) => core.inject(bindingsOf(input)),
  update: (input: BindInput) => core.update(bindingsOf(input)),
  async retrieve(name: string) {
    return leaving(await core.retrieve(name), name)
  },
  async names() {
    return Promise.all((await core.names()).map(reportOf))
  },
  async types(names: string[]) {
    const values = await Promise.all(names.map((name) => core.retrieve(name)))
    return values.map((value) => printType(inspection(() => undefined).typeOf(value)))
  },
  look: (wanted: Wanted) => sightsIn(core, wanted, proxies.idOf),
  load: (file: string) => runModule(file, core),
  describe: (names: string[]) => core.describe(names),
  undo: () => undoLast(),
  snapshot: (maxBytes: number) => core.snapshot({ maxBytes }),
  restore: (snapshot: Snapshot) => core.restore(snapshot),
  keep: ({ prefix, value }: { prefix: string; value: unknown }) => core.keep(prefix, value),
  reset: () => core.reset(),
}

function bindingsOf({ entries, values }: BindInput): Bindings {
  const bound = entries.map(({ name, kind }, index) => {
    const value = values[index]
    if (kind === "function") return [name, fn(stubOf(name))] as const
    const isType = kind === "type" && (typeof value === "object" || typeof value === "function") && value !== null
    return [name, isType ? typeBinding(value) : variable(value)] as const
  })
  return Object.fromEntries(bound)
}

function stubOf(name: string): (...args: unknown[]) => unknown {
  const stub = stubs.get(name) ?? ((...args: unknown[]) => callHost(name, [], "call", args))
  stubs.set(name, stub)
  stubNames.set(stub, name)
  return stub
}

async function reportOf(name: Awaited<ReturnType<typeof core.names>>[number]): Promise<NameReport> {
  const value = await core.retrieve(name.name).catch(() => undefined)
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return name
  return { ...name, handle: proxies.idOf(value), binding: stubNames.get(value) }
}

let undoLast: () => Promise<unknown> = async () => []

async function execute(input: ExecuteInput, id: number): Promise<Summary> {
  const { code, timeoutMs, within, transaction } = input
  const controller = new AbortController()
  const gate: CallGate = (_call, next) => next()
  executionOf.set(gate, id)
  controllers.set(id, controller)
  latest = id
  const env = await news.environment(id, input)
  const before = process.getActiveResourcesInfo()
  const parent = within === undefined ? undefined : cells.get(within)
  const run = () =>
    core.execute(code, {
      signal: controller.signal,
      timeoutMs,
      pauses(listener) {
        pauses.set(id, listener)
        return () => pauses.delete(id)
      },
      call: gate,
      env,
      transaction: transaction === "check" ? { check: () => callHost("", [], "check", []) } : transaction === "on",
      output: (chunk) => printer.print(id, chunk),
    })
  const execution = await (parent ? running.run(parent, run) : run())
  controllers.delete(id)
  cells.delete(id)
  news.forget(id)
  if (execution.ok && execution.undo) undoLast = execution.undo
  return summary(execution, before)
}

async function summary(execution: Execution, before: readonly string[]): Promise<Summary> {
  const told: Summary = { changes: execution.changes }
  if (execution.hints) told.hints = execution.hints
  if (execution.ok) {
    const value = tryLeaving(execution.value)
    if (value) told.value = value
    if (execution.preview !== undefined) told.preview = execution.preview
    if (execution.undo) told.undoable = true
    return told
  }
  const { error, notRolledBack } = execution
  const thrown = tryLeaving(execution.thrown)
  if (thrown) told.thrown = thrown
  if (notRolledBack) told.notRolledBack = notRolledBack
  const isStopped = error.kind === "timeout" || error.kind === "aborted" || error.kind === "memory"
  if (isStopped && !(await isQuiet(before))) told.unclean = true
  return { ...told, error }
}

/** Whether nothing is under way that was not before the cell: what was stopped cannot come back. */
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

function callHost(
  on: Operation["on"],
  path: readonly string[],
  op: Operation["op"],
  args: readonly unknown[],
  askedAt = new Error(),
): Promise<unknown> {
  const cell = running.getStore()
  cell?.check()
  const execution = (cell?.gate && executionOf.get(cell.gate)) ?? latest
  if (cell) cells.set(execution, cell)
  const call = new Promise((resolve, reject) => {
    const id = ++calls
    const packed = leaving(args, "the arguments")
    const failed = (error: unknown) => {
      // The host says what went wrong, and nothing of where in its own code.
      if (error instanceof Error) error.stack = [error.stack, ...cellFrames(askedAt)].join("\n")
      if (op !== "set") return reject(error)
      // Nobody can await an assignment: when it fails, the cell is told at once.
      stray(error)
      resolve(undefined)
    }
    waiting.set(id, { resolve, reject: failed })
    post({ type: "call", id, execution, operation: { on, path: [...path], op, args: packed } })
  })
  if (!cell) return call
  // A transaction tells of these, as they cannot be taken back; calls of functions their own part counts.
  if (typeof on === "number" && op !== "get") cell.noteCall([proxies.titleOf(on), ...path].join("."))
  const settle = () => cell.calls.delete(call)
  cell.calls.add(call)
  call.then(settle, settle)
  return call.then((value) => value)
}

function arrived(crossing: Crossing): unknown {
  return unpack(crossing, (stand: Stand) => {
    switch (stand.type) {
      case "handle":
        return stand.shape && proxies.get(stand.id, stand.shape)
      case "function":
        return stubOf(stand.name)
      case "error":
        return reviveError(stand)
    }
  })
}

function leaving(value: unknown, name: string): Crossing {
  return pack(value, standFor, name, true)
}

function tryLeaving(value: unknown): Crossing | undefined {
  try {
    return value === undefined ? undefined : leaving(value, "the value")
  } catch {
    // A look at it is in the preview; what cannot cross is said when it is retrieved.
    return undefined
  }
}

function standFor(value: object, where: string): Stand {
  const id = proxies.idOf(value)
  if (id !== undefined) return { type: "handle", id }
  const name = stubNames.get(originalOf(value) as object)
  if (name !== undefined) return { type: "function", name }
  if (proxies.isMember(value)) throw new CannotCross(`${where} is a member of a handle: await it first.`)
  if (value instanceof Promise) throw new CannotCross(`${where} is a promise: await it first.`)
  const why = typeof value === "function" ? "its code stays here" : "a copy would lose its class or behaviour"
  throw new CannotCross(`${where} is ${inspectShort(value)} and cannot leave its process: ${why}. Give plain data.`)
}

function post(message: FromChild): void {
  printer.flush()
  news.tell()
  channel.send(message)
}
