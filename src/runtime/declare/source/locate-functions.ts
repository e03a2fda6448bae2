// Finds out where functions are defined. Only the engine's inspector knows it. While a session is open, `await` is
// slow, so a session lives for one synchronous batch.
import type { Runtime, Session } from "node:inspector"
import { types } from "node:util"

/** A script as it runs: after a loader has removed its types or compiled it. */
export interface RunningScript {
  url: string
  /** The address after `sourceMappingURL`, or "". */
  sourceMapUrl: string
  /** The text of a script from a file; "" for any other. */
  text: string
}

/** Line and column count from 0. */
export interface FunctionLocation {
  script: RunningScript
  line: number
  column: number
  /** The number of arguments that `bind` has already given to the function. */
  boundArguments: number
}

/** Returns the locations of functions and classes. Native functions, Proxies and code without a file have none. Runs no
 *  code of the functions. Never throws: if there is no inspector, or `--permission` forbids it, nothing is found. */
export function locateFunctions(functions: readonly object[]): Map<object, FunctionLocation> {
  const found = new Map<object, FunctionLocation>()
  const asked = functions.filter((each) => typeof each === "function" && !types.isProxy(each))
  if (asked.length === 0) return found
  let session: Session | undefined
  try {
    session = new (process.getBuiltinModule("node:inspector").Session)()
    session.connect()
    const places = findPlaces(session, asked)
    readScripts(
      session,
      places.values().map(({ scriptId }) => scriptId),
    )
    for (const [call, { scriptId, lineNumber, columnNumber = 0, boundArguments = 0 }] of places) {
      const script = scripts.get(scriptId)
      if (script) found.set(call, { script, line: lineNumber, column: columnNumber, boundArguments })
    }
  } catch {
    // Without locations, the declarations are inferred.
  } finally {
    session?.disconnect()
  }
  return found
}

interface Place {
  scriptId: string
  lineNumber: number
  columnNumber?: number
  boundArguments?: number
}

/** The known scripts by the engine's number, which is never used twice. */
const scripts = new Map<string, RunningScript>()

function findPlaces(session: Session, functions: readonly object[]): Map<object, Place> {
  const list = remoteReference(session, functions)
  const { result } = send<Properties>(session, "Runtime.getProperties", { objectId: list, ownProperties: true })
  const places = new Map<object, Place>()
  for (const { name, value } of result) {
    const call = functions[Number(name)]
    const place = value?.objectId === undefined || !call ? undefined : placeOf(session, value.objectId)
    if (call && place) places.set(call, place)
  }
  return places
}

/** Makes a list of objects known to the session. The expression that the session evaluates gets the list through a
 *  channel, because the list is no global. */
function remoteReference(session: Session, functions: readonly object[]): string {
  const { channel } = process.getBuiltinModule("node:diagnostics_channel")
  const requests = channel(channelName)
  const answer = (request: unknown) => {
    if (typeof request === "object" && request !== null) Reflect.set(request, "functions", functions)
  }
  requests.subscribe(answer)
  try {
    const { result } = send<{ result: Runtime.RemoteObject }>(session, "Runtime.evaluate", { expression, silent: true })
    if (result.objectId === undefined) throw new Error("The session got no functions.")
    return result.objectId
  } finally {
    requests.unsubscribe(answer)
  }
}

const channelName = "karst.locate-functions"
const expression = `(() => {
  const request = {}
  process.getBuiltinModule("node:diagnostics_channel").channel("${channelName}").publish(request)
  return request.functions
})()`

type Properties = Runtime.GetPropertiesReturnType

/** Follows bound functions to their targets. */
function placeOf(session: Session, objectId: string, depth = 0): Place | undefined {
  const properties = send<Properties>(session, "Runtime.getProperties", { objectId, ownProperties: true })
  const internal = (name: string) => properties.internalProperties?.find((each) => each.name === name)?.value
  const target = internal("[[TargetFunction]]")?.objectId
  if (target !== undefined && depth < maxBound) {
    const place = placeOf(session, target, depth + 1)
    const { boundArguments = 0 } = place ?? {}
    return place && { ...place, boundArguments: boundArguments + lengthOf(internal("[[BoundArgs]]")) }
  }
  const place: unknown = internal("[[FunctionLocation]]")?.value
  return isPlace(place) ? place : undefined
}

const maxBound = 10

/** Reads the length of a list from its description, `Array(2)`. */
function lengthOf(list: Runtime.RemoteObject | undefined): number {
  return Number(/\d+/.exec(list?.description ?? "")?.[0] ?? 0)
}

function isPlace(value: unknown): value is Place {
  return typeof value === "object" && value !== null && "scriptId" in value && "lineNumber" in value
}

/** Reads the addresses and texts of scripts. The debugger reports all scripts when it is enabled, which is the slow
 *  part of a batch, so this is done only for new scripts. */
function readScripts(session: Session, ids: Iterable<string>): void {
  const missing = new Set([...ids].filter((id) => !scripts.has(id)))
  if (missing.size === 0) return
  session.on("Debugger.scriptParsed", ({ params: { scriptId, url, sourceMapURL = "" } }) => {
    if (missing.has(scriptId)) scripts.set(scriptId, { url, sourceMapUrl: sourceMapURL, text: "" })
  })
  send(session, "Debugger.enable")
  for (const scriptId of missing) {
    const script = scripts.get(scriptId)
    if (!script || !isFileAddress(script.url)) continue
    const { scriptSource } = send<{ scriptSource: string }>(session, "Debugger.getScriptSource", { scriptId })
    script.text = scriptSource
  }
  send(session, "Debugger.disable")
}

function isFileAddress(url: string): boolean {
  return url.startsWith("file:") || url.startsWith("/") || /^[A-Za-z]:[\\/]/.test(url)
}

/** A session in the same thread answers before `post` returns. */
function send<T = object>(session: Session, method: string, parameters: object = {}): T {
  let outcome: { error: Error | null; result: object | undefined } | undefined
  session.post(method, parameters, (error, result) => {
    outcome = { error, result }
  })
  if (outcome?.error) throw outcome.error
  if (!outcome?.result) throw new Error(`The inspector did not answer ${method}.`)
  // The protocol fixes the type of each answer.
  return outcome.result as T
}
