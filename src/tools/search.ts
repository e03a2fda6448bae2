// The tool `search_files`: searches file contents with a regular expression.
import * as z from "zod"
import { checkOptions, mustBeBoolean, mustBeEither, mustBeLimit, mustBeText } from "../core/checks/check-options.ts"
import { timerMs } from "../core/time-limit.ts"
import type { FileInfo } from "../workspaces/workspace.ts"
import { cleanFolder } from "../workspaces/workspace-path.ts"
import { findMissingFolder, integerFrom } from "./files/file-results.ts"
import { useFiles } from "./files/karst-files.ts"
import type { CandidateFile, SearchScope, UnsearchedFile } from "./search/candidate-files.ts"
import { candidateFiles, readInBatches } from "./search/candidate-files.ts"
import { fileTypes } from "./search/file-types.ts"
import type { FileMatch, MatchOptions, SearchMode } from "./search/match-lines.ts"
import { startMatcher } from "./search/matcher.ts"
import { findRipgrep } from "./search/ripgrep.ts"
import { compilePattern, type SearchPattern } from "./search/search-pattern.ts"
import { toSearchResult } from "./search/search-result.ts"
import { type Tool, type ToolContext, type ToolResult, tool, toolFailure } from "./tool.ts"

export interface SearchOptions {
  /** True: if installed, ripgrep preselects files that contain a text which every match must contain. A path selects
   *  the program. The results are the same without it. Default true. */
  ripgrep?: boolean | string | undefined
  /** The time limit of one search. Default 20,000. */
  timeoutMs?: number | undefined
}

/** Searches the files of the workspace by a regular expression. */
export function searchFilesTool(options: SearchOptions = {}): Tool {
  checkOptions("searchFilesTool()", options, {
    ripgrep: mustBeEither("true, false or a path", mustBeBoolean, mustBeText),
    timeoutMs: mustBeLimit(1),
  })
  const { ripgrep = true, timeoutMs = 20_000 } = options
  const command = typeof ripgrep === "string" ? () => ripgrep : ripgrep ? findRipgrep : () => undefined
  return tool({
    name: "search_files",
    description: "Searches file contents by a JavaScript regular expression, line by line. A cut result says so.",
    input: z.strictObject({
      pattern: z.string().min(1),
      path: z.string().optional().describe("A folder or file. Default: all files."),
      glob: z.string().optional().describe("Such as src/**/*.{ts,js} or !*.min.js."),
      type: z.string().optional().describe("ts, py …"),
      mode: z
        .enum(["content", "files", "count"])
        .optional()
        .describe("content (default): the lines. files: the paths. count: matches per file."),
      literal: z.boolean().optional().describe("pattern is plain text."),
      ignoreCase: z.boolean().optional(),
      multiline: z.boolean().optional().describe("The dot matches line breaks too."),
      context: integerFrom(0).optional().describe("Lines before and after each match."),
      hidden: z.boolean().optional().describe("Include dot files and node_modules."),
      limit: integerFrom(1).optional().describe("Default 200."),
      offset: integerFrom(0).optional(),
    }),
    sideEffect: false,
    parallel: true,
    maxOutputChars: 40_000,
    run: (input, context) => useFiles(context, (files) => search(input, files, command(), timeoutMs)),
  })
}

export interface SearchInput {
  pattern: string
  path?: string | undefined
  glob?: string | undefined
  type?: string | undefined
  mode?: SearchMode | undefined
  literal?: boolean | undefined
  ignoreCase?: boolean | undefined
  multiline?: boolean | undefined
  context?: number | undefined
  hidden?: boolean | undefined
  limit?: number | undefined
  offset?: number | undefined
}

async function search(
  input: SearchInput,
  context: ToolContext,
  ripgrep: string | undefined,
  timeoutMs: number,
): Promise<ToolResult> {
  const { path = "", type, glob, hidden = false, offset = 0 } = input
  const pattern = compileInputPattern(input)
  if (!("source" in pattern)) return pattern
  const extensions = type === undefined ? undefined : fileTypes.get(type)
  if (type !== undefined && !extensions) return unknownTypeFailure(type)
  if (offset > maxOffset) return toolFailure("offset-too-large", `Narrow the search: ${maxOffset} is the most to skip.`)
  const late = AbortSignal.timeout(timerMs(timeoutMs))
  const signal = AbortSignal.any([context.signal, late])
  const { workspace } = context
  const folder = cleanFolder(path)
  const scope: SearchScope = { workspace, folder, glob, extensions, hidden, signal }
  try {
    const file = folder === "" ? undefined : await workspace.stat(folder, { signal })
    const missing = file ? undefined : await findMissingFolder(folder, workspace, { signal })
    if (missing) return missing
    const files = file ? singleFile(file) : candidateFiles(scope, pattern, ripgrep)
    const unread: UnsearchedFile[] = []
    const found = await findMatches(files, scope, pattern, input, unread)
    return toSearchResult(found, input, unread)
  } catch (error) {
    if (context.signal.aborted) throw error
    if (late.aborted) return tooSlowFailure(timeoutMs)
    // V8 throws this if a pattern needs too much backtracking.
    if (error instanceof RangeError) return tooComplexFailure(error)
    throw error
  }
}

async function* singleFile(file: FileInfo): AsyncGenerator<FileInfo> {
  yield file
}

// Reads the next batch while the worker searches the previous one.
async function findMatches(
  files: AsyncIterable<CandidateFile>,
  scope: SearchScope,
  pattern: SearchPattern,
  input: SearchInput,
  unread: UnsearchedFile[],
): Promise<FileMatch[]> {
  const options = matchOptions(pattern, input)
  await using matcher = startMatcher(options, scope.signal)
  const found: FileMatch[] = []
  let remaining = wantedResults(input)
  const addMatches = (matches: readonly FileMatch[]) => {
    found.push(...matches)
    for (const { rows } of matches) remaining -= options.mode === "content" ? rows.length : 1
  }
  let searching: Promise<FileMatch[]> | undefined
  for await (const batch of readInBatches(files, scope, unread)) {
    if (searching) addMatches(await searching)
    if (remaining <= 0) return found
    searching = matcher.match({ files: batch, maxResults: remaining })
    searching.catch(() => {})
  }
  if (searching) addMatches(await searching)
  return found
}

function matchOptions({ source, flags, isMultiline }: SearchPattern, input: SearchInput): MatchOptions {
  const { mode = "content", context = 0 } = input
  return { source, flags, isMultiline, mode, context: Math.min(context, maxContext) }
}

// One more than is shown, to know whether there are more.
function wantedResults({ limit = 200, offset = 0 }: SearchInput): number {
  return offset + Math.min(limit, 1000) + 1
}

function compileInputPattern({
  pattern,
  literal = false,
  ignoreCase = false,
  multiline = false,
}: SearchInput): SearchPattern | ToolResult {
  try {
    return compilePattern(pattern, { literal, ignoreCase, multiline })
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const reason = error.message.replace(/^Invalid regular expression: .*: /s, "")
    const cure = "Write a regular expression of JavaScript, or search with literal."
    return toolFailure("invalid-pattern", `${JSON.stringify(pattern)} is no pattern: ${reason}. ${cure}`)
  }
}

function unknownTypeFailure(type: string): ToolResult {
  return toolFailure(
    "unknown-type",
    `There is no type "${type}". There are: ${[...fileTypes.keys()].join(", ")}. Or use glob.`,
  )
}

function tooSlowFailure(timeoutMs: number): ToolResult {
  const cure = "Narrow path or glob, or write a simpler pattern, without repetitions in repetitions such as (a+)+."
  return toolFailure("timeout", `The search was stopped after ${timeoutMs / 1000} seconds. ${cure}`)
}

function tooComplexFailure({ message }: RangeError): ToolResult {
  const cure = "Write a simpler one, such as [^c]*c for (?:a|b)*c, or leave out files with very long lines."
  return toolFailure("pattern-too-complex", `The pattern could not be searched for (${message}). ${cure}`)
}

const maxContext = 50
const maxOffset = 100_000
