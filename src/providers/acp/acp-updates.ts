import { resolve } from "node:path"
import type { Json } from "../../core/json.ts"
import { cliReportedUsage, type Usage } from "../../core/usage.ts"
import type { Step } from "../provider.ts"
import { type JsonObject, listAt, numberAt, objectAt, textAt, toolContentOf, valueAt } from "../read-json.ts"

/** Reads what an agent tells of one turn: pure but for its own state, so that recorded updates can be read as well. */
export interface AcpUpdateReader {
  /** Takes the `update` of a `session/update`. */
  update(update: JsonObject): Step[]
  /** A permission is asked for: the call it is about, told first where nothing was heard of it. */
  permissionRequested(call: JsonObject): { steps: Step[]; call: AcpCall }
  /** It was not given. */
  permissionDenied(id: string): Step[]
  /** What was not said yet. */
  finish(): Step[]
  /** Whether a call is under way. */
  readonly hasRunningCalls: boolean
  /** Whether anything was called. */
  readonly hasCalls: boolean
}

export interface AcpCall {
  id: string
  name: string
  kind: string
  title: string
  input: Json
}

interface TrackedCall extends AcpCall {
  /** What it changes. */
  files: Set<string>
  /** What it has written so far. */
  text: string
  state: "heard" | "told" | "ended"
}

export function createAcpUpdateReader(cwd: string): AcpUpdateReader {
  const calls = new Map<string, TrackedCall>()
  let speech: { type: "text" | "reasoning"; text: string } | undefined

  function say(type: "text" | "reasoning", content: Json | undefined): Step[] {
    const text = textAt(content, "text") ?? ""
    if (text === "") return []
    const before = speech?.type === type ? [] : flush()
    speech = { type, text: (speech?.text ?? "") + text }
    return [...before, { type, text, delta: true }]
  }

  function flush(): Step[] {
    const said = speech
    speech = undefined
    return said ? [said] : []
  }

  // Any update may be the first, and each has only what is new in it.
  function hear(update: JsonObject): TrackedCall {
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
      state: "heard",
    }
    calls.set(id, call)
    Object.assign(call, { title, kind })
    if (call.state === "heard" && hasKeys(input)) call.input = input
    for (const path of changedPaths(update, kind)) call.files.add(resolve(cwd, path))
    return call
  }

  function tell(call: TrackedCall): Step[] {
    if (call.state !== "heard") return []
    call.state = "told"
    const { id, name, title } = call
    if (!hasKeys(call.input)) call.input = title === "" || title === name ? {} : { title }
    return [...flush(), { type: "call", id, name, input: call.input }]
  }

  function callUpdate(update: JsonObject): Step[] {
    const call = hear(update)
    if (call.state === "ended") return []
    const status = textAt(update, "status")
    // What goes in may come later than the call.
    if (status === "pending" || (status === undefined && !hasKeys(call.input))) return []
    const steps = tell(call)
    const given = toolContentOf(listAt(update, "content").map((part) => valueAt(part, "content") ?? null))
    // What a call begins with is about it, and not yet of it.
    const begins = textAt(update, "sessionUpdate") === "tool_call"
    if (status !== "completed" && status !== "failed") return begins ? steps : [...steps, ...progress(call, given.text)]
    call.state = "ended"
    const ok = status === "completed"
    const text = given.text || rawOutputText(valueAt(update, "rawOutput"))
    steps.push({ type: "result", id: call.id, ok, ...given, text })
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
    update(update) {
      switch (textAt(update, "sessionUpdate")) {
        case "agent_message_chunk":
          return say("text", valueAt(update, "content"))
        case "agent_thought_chunk":
          return say("reasoning", valueAt(update, "content"))
        case "tool_call":
        case "tool_call_update":
          return callUpdate(update)
        default:
          return []
      }
    },
    permissionRequested(toolCall) {
      const call = hear(toolCall)
      return { steps: tell(call), call }
    },
    permissionDenied(id) {
      const call = calls.get(id)
      if (!call || call.state === "ended") return []
      call.state = "ended"
      return [{ type: "result", id, ok: false, text: "It was not allowed.", refused: true }]
    },
    finish: () => [...[...calls.values()].flatMap(tell), ...flush()],
    get hasRunningCalls() {
      return [...calls.values()].some(({ state }) => state === "told")
    },
    get hasCalls() {
      return calls.size > 0
    },
  }
}

/** The tokens of a turn; its cost is told elsewhere. */
export function readAcpUsage(answer: JsonObject): Usage {
  const quota = objectAt(answer, "_meta", "quota", "token_count")
  const usage = objectAt(answer, "usage")
  const plain = numberAt(usage, "inputTokens") ?? numberAt(quota, "input_tokens")
  const written = numberAt(usage, "outputTokens") ?? numberAt(quota, "output_tokens")
  if (plain === undefined || written === undefined) return { complete: false }
  const [cacheRead, cacheWrite] = [numberAt(usage, "cachedReadTokens"), numberAt(usage, "cachedWriteTokens")]
  const reasoning = numberAt(usage, "thoughtTokens")
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  // Some count what was cached and thought apart, some do not: the total says which.
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

/** What the session has cost by now, where an update says so. */
export function readAcpCost(update: JsonObject): number | undefined {
  if (textAt(update, "sessionUpdate") !== "usage_update" || textAt(update, "cost", "currency") !== "USD")
    return undefined
  return numberAt(update, "cost", "amount")
}

// Few give a name. Some begin with one as the title, and some have it in the id; a title may also be a whole command.
function toolNameOf(update: JsonObject): string {
  const [id = "", title = ""] = [textAt(update, "toolCallId"), textAt(update, "title")]
  const [, inId] = /^([A-Za-z][\w-]*?)__/.exec(id) ?? []
  const [inTitle] = /^[A-Za-z][\w-]*$/.exec(title) ?? []
  return textAt(update, "name") ?? inId ?? inTitle ?? textAt(update, "kind") ?? "tool"
}

const changingKinds = /^(edit|delete|move)$/

function changedPaths(update: JsonObject, kind: string): string[] {
  const diffs = listAt(update, "content").filter((part) => textAt(part, "type") === "diff")
  const places = changingKinds.test(kind) ? listAt(update, "locations") : []
  return [...diffs, ...places].flatMap((each) => textAt(each, "path") ?? [])
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
