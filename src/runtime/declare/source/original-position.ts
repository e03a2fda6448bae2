// Finds the place in the author's file that a location in a running script comes from.
import { SourceMap, type SourceMapPayload } from "node:module"
import { dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { attempt } from "../../../core/attempt.ts"
import type { FunctionLocation, RunningScript } from "./locate-functions.ts"
import { parseModule, readModule, readText, type SourceModule } from "./source-module.ts"

export interface OriginalPosition {
  module: SourceModule
  offset: number
  /** How the position was found. `text`: the script is the file without its types. `map`: the source map has the
   *  text of the file. `unchecked map`: the file may have changed since it was compiled. */
  by: "text" | "map" | "unchecked map"
}

/** Returns the possible origins, the best first: by the source map, then in the script's own file. */
export function* originalPositions(location: FunctionLocation): Generator<OriginalPosition> {
  const { script, line, column } = location
  const origin = originOf(script)
  const mapped = origin?.map && mappedPosition(origin.map, line, column)
  if (mapped) yield mapped
  const module = origin?.module()
  if (module) yield { module, offset: offsetIn(script.text, line, column), by: "text" }
}

/** Returns the path of a script's file. */
export function scriptPath({ url }: RunningScript): string | undefined {
  if (url.startsWith("file:")) return attempt(() => fileURLToPath(url))
  return /^(?:\/|[A-Za-z]:[\\/])/.test(url) ? url : undefined
}

interface ScriptOrigin {
  /** Returns the script's own file, if the script is this file without its types. */
  module(): SourceModule | undefined
  map?: LoadedMap | undefined
}

interface LoadedMap {
  map: SourceMap
  /** The folder or file that the paths in the map are relative to. */
  base: string
  contents: ReadonlyMap<string, string>
}

const origins = new WeakMap<RunningScript, ScriptOrigin | null>()

function originOf(script: RunningScript): ScriptOrigin | undefined {
  const known = origins.get(script)
  if (known !== undefined) return known ?? undefined
  const origin = attempt(() => findOrigin(script))
  origins.set(script, origin ?? null)
  return origin
}

function findOrigin(script: RunningScript): ScriptOrigin | undefined {
  const path = scriptPath(script)
  if (path === undefined || script.text === "") return undefined
  let module: SourceModule | null | undefined
  return {
    map: script.sourceMapUrl ? attempt(() => loadMap(script.sourceMapUrl, path)) : undefined,
    module() {
      if (module === undefined) {
        const code = readText(path)
        module = (code !== undefined && isWithoutTypes(script.text, code) && parseModule(path, code)) || null
      }
      return module ?? undefined
    },
  }
}

/** Returns true if a script is a file in which types were replaced by blanks. Where a type ended a statement, the
 *  loader writes a semicolon; after the text it adds comments. */
function isWithoutTypes(script: string, file: string): boolean {
  if (script === file) return true
  if (script.length < file.length) return false
  for (let index = 0; index < file.length; index++) {
    const character = script.charCodeAt(index)
    if (character === file.charCodeAt(index)) continue
    if (!blank.test(script.charAt(index))) return false
  }
  const added = script.slice(file.length).split("\n")
  return added.every((line) => /^\s*(?:\/\/|$)/.test(line))
}

const blank = /[\s;()=>]/

function loadMap(address: string, script: string): LoadedMap {
  const inline = /^data:[^,]*?(;base64)?,(.*)$/s.exec(address)
  const path = inline
    ? script
    : resolve(dirname(script), address.startsWith("file:") ? fileURLToPath(address) : address)
  const text = inline ? Buffer.from(inline[2] ?? "", inline[1] ? "base64" : "utf8").toString() : (readText(path) ?? "")
  const payload: SourceMapPayload = JSON.parse(inline && !inline[1] ? decodeURIComponent(text) : text)
  const { sources, sourcesContent = [], sourceRoot = "" } = payload
  const root = sourceRoot.startsWith("file:") ? fileURLToPath(sourceRoot) : sourceRoot
  const base = resolve(dirname(path), root)
  const contents = sources.flatMap((source, index): [string, string][] => {
    const content: unknown = sourcesContent[index]
    return typeof content === "string" ? [[source, content]] : []
  })
  return { map: new SourceMap(payload), base, contents: new Map(contents) }
}

function mappedPosition(
  { map, base, contents }: LoadedMap,
  line: number,
  column: number,
): OriginalPosition | undefined {
  const entry = map.findEntry(line, column)
  if (!("originalSource" in entry) || typeof entry.originalSource !== "string") return undefined
  const { originalSource, originalLine, originalColumn } = entry
  const path = attempt(() =>
    originalSource.startsWith("file:") ? fileURLToPath(originalSource) : resolve(base, originalSource),
  )
  if (path === undefined) return undefined
  const content = contents.get(originalSource)
  const module = content === undefined ? readModule(path) : mappedModule(path, content)
  return (
    module && {
      module,
      offset: offsetIn(module.code, originalLine, originalColumn),
      by: content === undefined ? "unchecked map" : "map",
    }
  )
}

/** The text in a map is what was compiled, even if the file has changed since. */
function mappedModule(path: string, content: string): SourceModule | undefined {
  const file = readModule(path)
  if (file?.code === content) return file
  const known = mappedModules.get(path)
  if (known?.code === content) return known
  const module = parseModule(path, content)
  if (module) mappedModules.set(path, module)
  return module
}

const mappedModules = new Map<string, SourceModule>()

function offsetIn(text: string, line: number, column: number): number {
  let start = 0
  for (let count = 0; count < line; count++) {
    const end = text.indexOf("\n", start)
    if (end < 0) return text.length
    start = end + 1
  }
  return start + column
}
