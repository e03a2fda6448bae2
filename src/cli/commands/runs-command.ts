// `karst runs …`: lists, shows and controls the durable runs of a store. Workers execute them elsewhere.

import { callName } from "../../actions/preview-call.ts"
import { usageTexts } from "../../display/event-text.ts"
import { safeLine } from "../../display/safe-text.ts"
import type { Engine } from "../../engine/engine.ts"
import { createEngine } from "../../engine/engine.ts"
import type { RunInfo } from "../../engine/run-info.ts"
import { storeName } from "../../stores/store-names.ts"
import type { Input } from "../command.ts"
import { commandName } from "../command-name.ts"
import { printEmptyList } from "../empty-list.ts"
import { endSignal } from "../end-signal.ts"
import { exitCode, printEvent } from "../interruptible-run.ts"
import { formatTime, printJson, printTable } from "../print-table.ts"
import { printLine, printNotice, printToErrors } from "../print-text.ts"
import { wrongIdText } from "../run/wrong-id.ts"
import { createEventViewer } from "../show-events.ts"
import {
  openBackend,
  openStore,
  type QueueValues,
  queueKind,
  requireExistingStore,
  storeOptionText,
} from "../store-option.ts"
import type { approveOptions, listRunsOptions, pruneOptions, showRunOptions, watchRunOptions } from "../table/runs.ts"
import type { queueOptions } from "../table/worker.ts"
import { costText, tokensText } from "../trajectory/overview.ts"
import { UsageError } from "../usage-error.ts"

type RunInput = Input<typeof queueOptions>

export function listRunsCommand({ values }: Input<typeof listRunsOptions>): Promise<number> {
  return withEngine(values, async (engine) => {
    const { status, agent, session } = values
    const runs = await Array.fromAsync(engine.list({ status, agent, session }))
    if (values.json) printJson(runs)
    else if (runs.length === 0)
      printEmptyList({
        what: "runs",
        where: storeName(values.store ?? "the store"),
        cure: "A program adds one by engine.submit(); a run of karst run is a session: karst sessions list.",
        filters: { status: status?.join(","), agent, session },
      })
    else {
      const rows = runs.map((run) => {
        const { id, status, updatedAt, usage, agent } = run
        return [id, status, formatTime(updatedAt), usageTexts(usage).join(", ") || "-", agent, waitsFor(run)]
      })
      printTable([["run", "status", "changed", "used", "agent", "waits for"], ...rows])
    }
    return 0
  })
}

export function showRunCommand({ values, positionals: [id = ""] }: Input<typeof showRunOptions>): Promise<number> {
  return withEngine(values, async (engine) => {
    const info = await requireRun(engine, id)
    const { pending } = info
    const call = pending?.kind === "approval" ? await engine.pendingCall(id, pending.id) : undefined
    const output = isUnderWay(info) ? undefined : (await engine.result(id)).output
    if (values.json)
      printJson({ ...info, ...(call !== undefined && { call }), ...(output !== undefined && { output }) })
    else {
      printTable([
        ["run", info.id],
        ["agent", info.agent],
        ["status", info.status],
        ...(info.session === undefined ? [] : [["session", info.session]]),
        ["cycles", String(info.cycles)],
        ["calls", String(info.calls)],
        ["tokens", tokensText(info.usage)],
        ["cost", costText(info.usage) ?? "unknown"],
        ["submitted", formatTime(info.createdAt)],
        ["changed", formatTime(info.updatedAt)],
        ...(info.refused === undefined ? [] : [["refused", info.refused]]),
        ...(info.retryAt === undefined ? [] : [["retried at", formatTime(info.retryAt)]]),
        ...(pending ? [["waits for", waitsFor(info)]] : []),
      ])
      if (call !== undefined) printLine(`\n${call}`)
      if (pending) printLine(`\n${cureOf(info, values)}`)
      if (output) printLine(`\n${output}`)
    }
    return 0
  })
}

export function watchRunCommand({ values, positionals: [id = ""] }: Input<typeof watchRunOptions>): Promise<number> {
  return withEngine(values, async (engine) => {
    await requireRun(engine, id)
    const ended = new AbortController()
    const signal = AbortSignal.any([ended.signal, endSignal()])
    let seen = -1
    let last = Infinity
    const settled = engine.result(id, { signal }).then((result) => {
      // The run has ended or waits. Show the events that are stored until now.
      last = result.trajectory.events.findLast(({ run }) => run === id)?.seq ?? -1
      if (seen >= last) ended.abort()
      return result
    })
    // Handled below, after the loop.
    settled.catch(() => undefined)
    const show = values.json ? printEvent : createEventViewer()
    for await (const event of engine.watch(id, { signal })) {
      show(event)
      if (event.run === id) seen = event.seq
      if (seen >= last) break
    }
    if (!ended.signal.aborted && signal.aborted) return 130
    const result = await settled
    const info = await requireRun(engine, id)
    if (info.pending) printToErrors(`Waits for ${safeLine(waitsFor(info))}\n${cureOf(info, values)}`)
    return exitCode(result)
  })
}

export function answerRunCommand({ values, positionals: [id = "", ...words] }: RunInput): Promise<number> {
  return withRun(values, id, (engine) => engine.answer(id, words.join(" ")))
}

export function approveRunCommand({
  values,
  positionals: [id = "", given],
}: Input<typeof approveOptions>): Promise<number> {
  if (values.deny && values.always) throw new UsageError("--deny and --always exclude each other. Give one of them.")
  return withRun(values, id, async (engine) => {
    const { pending } = await requireRun(engine, id)
    const call = given ?? (pending?.kind === "approval" ? pending.id : undefined)
    if (call === undefined) throw new UsageError(`Run ${id} waits for no approval. See: karst runs show ${id}`)
    await engine.approve(id, call, values.deny ? "deny" : values.always ? "always" : "allow")
  })
}

export function steerRunCommand({ values, positionals: [id = "", ...words] }: RunInput): Promise<number> {
  return withRun(values, id, (engine) => engine.steer(id, words.join(" ")))
}

export function abortRunCommand({ values, positionals: [id = "", ...words] }: RunInput): Promise<number> {
  return withRun(values, id, (engine) => engine.abort(id, words.join(" ") || undefined))
}

export function retryRunCommand({ values, positionals: [id = ""] }: RunInput): Promise<number> {
  return withRun(values, id, (engine) => engine.retry(id))
}

export function pruneRunsCommand({ values }: Input<typeof pruneOptions>): Promise<number> {
  const { "older-than": olderThanMs } = values
  if (olderThanMs === undefined) throw new UsageError("Say how old: karst runs prune --older-than 30d --store …")
  return withEngine(values, async (engine) => {
    for (const id of await engine.prune({ olderThanMs })) printLine(`Deleted ${id}`)
    return 0
  })
}

/** Opens the store and an engine without agents, which executes nothing. */
async function withEngine(values: QueueValues, work: (engine: Engine) => Promise<number>): Promise<number> {
  requireExistingStore(values.store)
  await using store = openStore(values.store, values.prefix)
  await using engine = createEngine({ agents: {}, store, backend: openBackend(queueKind(values), values) })
  return await work(engine)
}

/** Changes a run and prints its status. */
function withRun(values: QueueValues, id: string, change: (engine: Engine) => Promise<void>): Promise<number> {
  return withEngine(values, async (engine) => {
    await requireRun(engine, id)
    await change(engine)
    const { status, agent } = await requireRun(engine, id)
    printLine(`${id}: ${status}`)
    if (status === "queued")
      printNotice(`A process that has the agent ${agent} continues it: your program, or karst worker.`)
    return 0
  })
}

async function requireRun(engine: Engine, id: string): Promise<RunInfo> {
  const info = await engine.get(id)
  if (info) return info
  throw new UsageError(wrongIdText(id, "run") ?? `There is no run "${id}" in the store. See: karst runs list`)
}

function isUnderWay({ status }: RunInfo): boolean {
  return status === "queued" || status === "running"
}

function waitsFor({ pending }: RunInfo): string {
  if (!pending) return ""
  if (pending.kind === "question") return `answer: ${pending.question}`
  return `approval: ${callName(pending.call)}(${pending.call.args})`
}

function cureOf({ id, pending }: RunInfo, { store }: QueueValues): string {
  return pending?.kind === "question"
    ? `Answer: ${commandName()} runs answer ${id} "…"${storeOptionText(store)}`
    : `Allow: ${commandName()} runs approve ${id}${storeOptionText(store)}   Refuse: the same with --deny`
}
