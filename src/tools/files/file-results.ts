// Result texts and failures that the file tools share.
import * as z from "zod"
import { AgentError, isAbortError } from "../../core/errors.ts"
import type { StopOptions, Workspace } from "../../workspaces/workspace.ts"
import { cleanFolder } from "../../workspaces/workspace-path.ts"
import { type ToolResult, toolFailure } from "../tool.ts"

/** Runs `work`, and converts an `AgentError` to a failure that the model can act on, with the same code. */
export async function withFailuresAsResults(work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AgentError && !isAbortError(error)) return toolFailure(error.code, error.message)
    throw error
  }
}

/** An integer. `z.int()` would add its bounds to the schema, which costs a dozen tokens each. */
export function integerFrom(from: number) {
  return z.number().min(from).transform(Math.trunc)
}

/** Returns a failure if nothing is at a path where a folder was expected. The workspace itself may be empty. */
export async function findMissingFolder(
  path: string,
  workspace: Workspace,
  options: StopOptions,
): Promise<ToolResult | undefined> {
  const folder = cleanFolder(path)
  if (folder === "") return undefined
  for await (const _ of workspace.list(folder, options)) return undefined
  return toolFailure("not-found", `There is no folder "${folder}". List the folder above it to see what there is.`)
}

export function cannotEncodeFailure(path: string): ToolResult {
  const cure = "Use characters up to U+00FF, or write the whole file anew with write_file, which makes it UTF-8."
  return toolFailure("cannot-encode", `"${path}" is not UTF-8 but one byte a character. ${cure}`)
}

/** A count with its noun: `3 files`, `1 file`. */
export function countText(count: number, thing: string): string {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`
}

export function sizeText(bytes: number): string {
  if (bytes < 1000) return countText(bytes, "byte")
  const units = ["KB", "MB", "GB", "TB"]
  let size = bytes / 1000
  while (size >= 999.5 && units.length > 1) {
    size /= 1000
    units.shift()
  }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[0]}`
}
