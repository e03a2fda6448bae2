// Runs the cells of MCP clients in the same way as a run, and lets clients wait for slow ones.
import type { CallToolResult } from "@modelcontextprotocol/server"
import { type CodeEnd, type CodeServices, performCode } from "../../actions/perform-code.ts"
import { followSignals, onAbort } from "../../core/abort.ts"
import { AbortError } from "../../core/errors.ts"
import type { Emit } from "../../core/event.ts"
import { timerMs } from "../../core/time-limit.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { ServeOptions } from "../mcp-types.ts"
import { toContent } from "../result-content.ts"
import type { CallHost } from "./call-host.ts"

export interface ClientCells {
  /** Runs a cell and returns its result. If that takes longer than clients wait, returns how to wait for it. */
  run(id: string, code: string, host: CallHost, call: ClientCellCall): Promise<CallToolResult>
  /** Waits for a cell that was still running; undefined if there is none with this id. */
  wait(id: string, call: ClientCellCall): Promise<CallToolResult> | undefined
  /** Aborts the running cells. */
  close(reason: AbortError): Promise<void>
}

export interface ClientCellCall {
  /** Cancelling the call aborts its cell. */
  signal: AbortSignal
  progress(text: string): void
  /** Returns true if the cell waits for answers of the client. The call then takes as long as the person does. */
  isAsking?: (() => boolean) | undefined
}

interface ClientCell {
  id: string
  ended: Promise<CallToolResult>
  isOver: boolean
  /** Calls in the cell that wait for approval. */
  asking: Set<string>
  controller: AbortController
  progress(text: string): void
}

// The maximum number of results that no client has read.
const maxUnreadResults = 100

export function createClientCells(runtime: Runtime, options: ServeOptions): ClientCells {
  const { answerTimeoutMs = 40_000, typeGate, transaction, cellTimeoutMs, maxOutputChars = 5000 } = options
  const cells = new Map<string, ClientCell>()
  // The stored output of cells, the oldest first.
  let outputs: string[] = []

  function start(id: string, code: string, host: CallHost): ClientCell {
    const controller = new AbortController()
    const stopFollowing = followSignals(controller, host.signal ? [host.signal] : [])
    const cell: ClientCell = {
      id,
      controller,
      asking: new Set(),
      isOver: false,
      progress() {},
      ended: Promise.resolve({ content: [] }),
    }
    const services: CodeServices = {
      ...host.gate,
      runtime,
      signal: controller.signal,
      cellTimeoutMs,
      typeGate,
      transaction,
      leftMs: host.leftMs,
      cellEnv: host.cellEnv,
      maxOutputChars,
      reservedNames: new Set(),
      keptNames: () => outputs,
    }
    cell.ended = runCell(code, cell, host, services, recordOutput).finally(() => {
      cell.isOver = true
      stopFollowing()
    })
    removeOldestResults(cells)
    cells.set(id, cell)
    return cell
  }

  function recordOutput({ kept, keptValue, dropped = [] }: CodeEnd): void {
    const added = [kept, keptValue].filter((name) => name !== undefined)
    outputs = [...outputs, ...added].filter((name) => !dropped.includes(name))
  }

  async function answer(cell: ClientCell, { signal, progress, isAsking }: ClientCellCall): Promise<CallToolResult> {
    cell.progress = progress
    const cancelled = onAbort(signal, () => cell.controller.abort(new AbortError("The client cancelled the call.")))
    const timeLimit = Promise.withResolvers<undefined>()
    const timer = setInterval(() => isAsking?.() || timeLimit.resolve(undefined), timerMs(answerTimeoutMs))
    try {
      const result = await Promise.race([cell.ended, timeLimit.promise])
      if (result) cells.delete(cell.id)
      return result ?? unfinishedResult(cell)
    } finally {
      clearInterval(timer)
      cancelled()
      cell.progress = () => {}
    }
  }

  return {
    run: (id, code, host, call) => answer(start(id, code, host), call),
    wait(id, call) {
      const cell = cells.get(id)
      return cell && answer(cell, call)
    },
    async close(reason) {
      const open = [...cells.values()]
      for (const { controller } of open) controller.abort(reason)
      await Promise.all(open.map(({ ended }) => ended))
      cells.clear()
    },
  }
}

async function runCell(
  code: string,
  cell: ClientCell,
  host: CallHost,
  services: CodeServices,
  onEnd: (end: CodeEnd) => void,
): Promise<CallToolResult> {
  const { id } = cell
  const emit: Emit = (event) => {
    if (event.type === "approval-requested") cell.asking.add(event.id)
    if (event.type === "approval-resolved") cell.asking.delete(event.id)
    if (event.type === "code-delta" && event.of !== "source") cell.progress(event.text)
    host.emit(event)
  }
  const { language } = services.runtime
  emit({ type: "code-start", id, language })
  emit({ type: "code-delta", id, of: "source", text: code })
  const part = { type: "code", id, tag: language, code, closed: true } as const
  // If the runtime no longer works, the text of `end` says so.
  const { end } = await host.within(() => performCode(part, services, emit))
  onEnd(end)
  return { content: toContent(end.text, end.images), isError: !end.ok }
}

function unfinishedResult({ id, asking }: ClientCell): CallToolResult {
  const status = asking.size > 0 ? "needs-approval" : "running"
  const why =
    status === "running"
      ? "The cell is still running."
      : "A call in the cell waits for a person to approve it, who was asked."
  return { content: toContent(JSON.stringify({ status, cell: id, next: `${why} Call wait with this cell.` })) }
}

function removeOldestResults(cells: Map<string, ClientCell>): void {
  const over = [...cells.values()].filter(({ isOver }) => isOver)
  for (const { id } of over.slice(0, Math.max(0, over.length - maxUnreadResults + 1))) cells.delete(id)
}
