// Turns the session updates of an ACP program into steps.
import { resolve } from "node:path"
import type { Json } from "../../core/json.ts"
import { cliReportedUsage, type Usage } from "../../core/usage.ts"
import type { Step } from "../provider.ts"
import { type JsonObject, listAt, numberAt, objectAt, textAt, toolContentOf, valueAt } from "../read-json.ts"

export interface AcpCall {
  id: string
  name: string
  kind: string
  title: string
  input: Json
}

interface TrackedCall extends AcpCall {
  /** Files it changes. */
  files: Set<string>
  /** Its output so far. */
  text: string
  state: "known" | "reported" | "ended"
}

/** Reads the updates of one turn. It has no effects but its own state, so it can also read recorded updates. */
export function createAcpUpdateReader(cwd: string) {
  const calls = new Map<string, TrackedCall>()
  let pending: { type: "text" | "reasoning"; text: string } | undefined

  function addText(type: "text" | "reasoning", content: Json | undefined): Step[] {
    const text = textAt(content, "text") ?? ""
    if (text === "") return []
    const before = pending?.type === type ? [] : flush()
    pending = { type, text: (pending?.text ?? "") + text }
    return [...before, { type, text, delta: true }]
  }

  function flush(): Step[] {
    const steps = pending ? [pending] : []
    pending = undefined
    return steps
  }

  // Any update may be the first of a call, and each contains only what is new.
  function trackCall(update: JsonObject): TrackedCall {
    const id = textAt(update, "toolCallId") ?? ""
    const known = calls.get(id)
    const title = textAt(update, "title") ?? known?.title ?? ""
    const kind = textAt(update, "kind") ?? known?.kind ?? "other"
    const input = valueAt(update, "rawInput")
    const call: TrackedCall = known ?? {
      id,
      name: toolNameOf(update),
      kind,
      title,
      input: {},
      files: new Set(),
      text: "",
      state: "known",
    }
    calls.set(id, call)
    Object.assign(call, { title, kind })
    if (call.state === "known" && hasKeys(input)) call.input = input
    for (const path of changedPaths(update, kind)) call.files.add(resolve(cwd, path))
    return call
  }

  function reportCall(call: TrackedCall): Step[] {
    if (call.state !== "known") return []
    call.state = "reported"
    const { id, name, title } = call
    if (!hasKeys(call.input)) call.input = title === "" || title === name ? {} : { title }
    return [...flush(), { type: "call", id, name, input: call.input }]
  }

  function callUpdate(update: JsonObject): Step[] {
    const call = trackCall(update)
    if (call.state === "ended") return []
    const status = textAt(update, "status")
    // The input may come in a later update.
    if (status === "pending" || (status === undefined && !hasKeys(call.input))) return []
    const steps = reportCall(call)
    const content = toolContentOf(listAt(update, "content").map((part) => valueAt(part, "content") ?? null))
    // The content of the first update describes the call; it is no output.
    const isFirst = textAt(update, "sessionUpdate") === "tool_call"
    if (status !== "completed" && status !== "failed")
      return isFirst ? steps : [...steps, ...progress(call, content.text)]
    call.state = "ended"
    const ok = status === "completed"
    const text = content.text || rawOutputText(valueAt(update, "rawOutput"))
    steps.push({ type: "result", id: call.id, ok, ...content, text })
    if (ok && call.files.size > 0) steps.push({ type: "files", paths: [...call.files] })
    return steps
  }

  function progress(call: TrackedCall, text: string): Step[] {
    if (text === call.text || !text.startsWith(call.text)) return []
    const more = text.slice(call.text.length)
    call.text = text
    return [{ type: "progress", id: call.id, text: more }]
  }

  return {
    /** Reads the `update` of a `session/update`. */
    update(update: JsonObject): Step[] {
      switch (textAt(update, "sessionUpdate")) {
        case "agent_message_chunk":
          return addText("text", valueAt(update, "content"))
        case "agent_thought_chunk":
          return addText("reasoning", valueAt(update, "content"))
        case "tool_call":
        case "tool_call_update":
          return callUpdate(update)
        default:
          return []
      }
    },
    /** Reads the call of a permission request. `steps` reports the call if no update did. */
    permissionRequested(toolCall: JsonObject): { steps: Step[]; call: AcpCall } {
      const call = trackCall(toolCall)
      return { steps: reportCall(call), call }
    },
    /** Ends a call whose permission was denied. */
    permissionDenied(id: string): Step[] {
      const call = calls.get(id)
      if (!call || call.state === "ended") return []
      call.state = "ended"
      return [{ type: "result", id, ok: false, text: "It was not allowed.", refused: true }]
    },
    /** Reports what is pending at the end of the turn. */
    finish: (): Step[] => [...[...calls.values()].flatMap(reportCall), ...flush()],
    /** True while a call is running. */
    get hasRunningCalls(): boolean {
      return [...calls.values()].some(({ state }) => state === "reported")
    },
    /** True if there was any call. */
    get hasCalls(): boolean {
      return calls.size > 0
    },
  }
}

/** The tokens of a turn; its cost comes in updates. */
export function readAcpUsage(answer: JsonObject): Usage {
  const quota = objectAt(answer, "_meta", "quota", "token_count")
  const usage = objectAt(answer, "usage")
  const plain = numberAt(usage, "inputTokens") ?? numberAt(quota, "input_tokens")
  const written = numberAt(usage, "outputTokens") ?? numberAt(quota, "output_tokens")
  if (plain === undefined || written === undefined) return { complete: false }
  const [cacheRead, cacheWrite] = [numberAt(usage, "cachedReadTokens"), numberAt(usage, "cachedWriteTokens")]
  const reasoning = numberAt(usage, "thoughtTokens")
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  // Some programs count cached and reasoning tokens separately, some include them: the total shows which.
  const apart = plain + written + cached + (reasoning ?? 0) === numberAt(usage, "totalTokens")
  return cliReportedUsage({
    complete: true,
    input: apart ? plain + cached : plain,
    output: apart ? written + (reasoning ?? 0) : written,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(reasoning !== undefined && { reasoning }),
  })
}

/** The cost of the session so far, if the update reports it. */
export function readAcpCost(update: JsonObject): number | undefined {
  if (textAt(update, "sessionUpdate") !== "usage_update" || textAt(update, "cost", "currency") !== "USD")
    return undefined
  return numberAt(update, "cost", "amount")
}

// Few programs send a tool name. Some use it as title or as start of the id; a title may also be a whole command.
function toolNameOf(update: JsonObject): string {
  const [id = "", title = ""] = [textAt(update, "toolCallId"), textAt(update, "title")]
  const [, inId] = /^([A-Za-z][\w-]*?)__/.exec(id) ?? []
  const [inTitle] = /^[A-Za-z][\w-]*$/.exec(title) ?? []
  return textAt(update, "name") ?? inId ?? inTitle ?? textAt(update, "kind") ?? "tool"
}

const changingKinds = /^(edit|delete|move)$/

function changedPaths(update: JsonObject, kind: string): string[] {
  const diffs = listAt(update, "content").filter((part) => textAt(part, "type") === "diff")
  const locations = changingKinds.test(kind) ? listAt(update, "locations") : []
  return [...diffs, ...locations].flatMap((each) => textAt(each, "path") ?? [])
}

function rawOutputText(output: Json | undefined): string {
  if (typeof output === "string") return output
  return textAt(output, "output") ?? textAt(output, "error") ?? (hasKeys(output) ? JSON.stringify(output) : "")
}

function hasKeys(value: Json | undefined): value is Json {
  return typeof value === "object" && value !== null
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null
}
