// Describes why a module of the user's project could not be loaded: the line in its file, the cause and the cure.
import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { attempt } from "../core/attempt.ts"
import { errorData } from "../core/errors.ts"
import { CellSyntaxError, parseCell } from "../runtime/compiler/parse-cell.ts"

export interface ModuleError {
  /** The line of the module itself; undefined if it does not show the mistake. */
  line: number | undefined
  /** The cause, with the place in another file, and what to do. */
  text: string
}

export function describeModuleError(file: string, error: unknown): ModuleError {
  const { message } = errorData(error)
  const source = attempt(() => readFileSync(file, "utf8")) ?? ""
  const [, kind, missing = ""] = /^Cannot find (package|module) '([^']+)'/.exec(message) ?? []
  if (kind !== undefined) {
    const cure = kind === "package" ? `. Install it: npm install ${missing}` : ""
    return { line: lineOfImport(file, source, missing), text: `${message}${cure}` }
  }
  const line = lineInStack(file, error) ?? lineOfSyntaxError(source)
  const other = line === undefined ? placeInStack(error) : undefined
  return { line, text: other === undefined ? message : `${message} (at ${other})` }
}

/** The line that imports a package, or a file by its resolved path. */
function lineOfImport(file: string, source: string, missing: string): number | undefined {
  const isMissing = (specifier: string) =>
    specifier === missing || specifier.startsWith(`${missing}/`) || resolve(dirname(file), specifier) === missing
  const lines = source.split("\n")
  const index = lines.findIndex((line) =>
    [...line.matchAll(/["']([^"']+)["']/g)].some(([, text = ""]) => isMissing(text)),
  )
  return index === -1 ? undefined : index + 1
}

/** The line of the file that a stack shows first. */
function lineInStack(file: string, error: unknown): number | undefined {
  const stack = stackOf(error)
  for (const name of [pathToFileURL(file).href, file]) {
    const at = stack.indexOf(`${name}:`)
    const line = at === -1 ? undefined : /^\d+/.exec(stack.slice(at + name.length + 1))?.[0]
    if (line !== undefined) return Number(line)
  }
  return undefined
}

/** The first place of a stack, if it is in a file of the project: path and line. */
function placeInStack(error: unknown): string | undefined {
  const frame = stackOf(error)
    .split("\n")
    .find((text) => /^\s+at /.test(text) && text.includes("file:"))
  const place = frame?.slice(frame.indexOf("file:")) ?? ""
  const [, url = "", line = ""] = /^(\S+?):(\d+)(?::\d+)?\)?$/.exec(place) ?? []
  return url === "" || url.includes("/node_modules/") ? undefined : `${fileURLToPath(url)}:${line}`
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? "") : ""
}

/** Node does not say where a module's syntax is wrong. */
function lineOfSyntaxError(source: string): number | undefined {
  try {
    parseCell(source)
    return undefined
  } catch (error) {
    return error instanceof CellSyntaxError ? error.line : undefined
  }
}
