// Reads one configuration file, TypeScript, JavaScript or JSON, and reports every mistake with file and line.
import { realpath } from "node:fs/promises"
import { ConfigError } from "../core/errors.ts"
import { readRegularFile } from "../core/read-regular-file.ts"
import { configProblems } from "./config-checks.ts"
import type { Config } from "./define-config.ts"
import { runModule } from "./import-module.ts"
import { parseJsonFile } from "./json-text.ts"
import { type LineOfKey, lineOfKey } from "./key-lines.ts"
import type { Origin } from "./merge-config.ts"
import { describeModuleError } from "./module-error.ts"
import { readTrustedFile, type TrustedFiles } from "./trusted-files.ts"

export interface ReadConfig {
  config: Config
  lineOf: LineOfKey
}

/** Reads and checks a configuration file. A module runs its code; with `trusted`, only that of these files. Throws one
 *  `ConfigError` that lists all mistakes. */
export async function readConfigFile(file: string, trusted?: TrustedFiles | undefined): Promise<ReadConfig> {
  const isJson = file.endsWith(".json")
  const source = trusted ? readTrustedFile(await realpath(file), trusted).toString("utf8") : await readGivenFile(file)
  const value = isJson ? withoutSchema(parseJsonFile(file, source)) : await importFile(file, trusted)
  const lineOf = lineOfKey(source, isJson ? "json" : "module")
  checkConfig(value, (key) => placeText(file, lineOf(key)))
  return { config: value, lineOf }
}

async function readGivenFile(file: string): Promise<string> {
  const found = await readRegularFile(file, maxConfigBytes)
  if ("problem" in found) throw new ConfigError(`The configuration "${file}" ${found.problem}.`)
  return found.bytes.toString("utf8")
}

const maxConfigBytes = 10_000_000

/** Throws a `ConfigError` that lists every mistake, each with its place. */
export function checkConfig(value: unknown, placeOf: (key: string) => string): asserts value is Config {
  const problems = configProblems(value).map((problem) => `${placeOf(keyIn(problem))}: ${problem}`)
  if (problems.length === 0) return
  const [only] = problems
  const text =
    problems.length === 1 ? only : `${problems.length} mistakes:\n${problems.map((each) => `- ${each}`).join("\n")}`
  throw new ConfigError(`${text}${problems.length === 1 ? "." : ""}`)
}

export function placeText(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`
}

/** The place of a value for the beginning of a message: its file and line, or its variable. Empty if it has none. */
export function originPlace({ file, line, variable }: Origin): string {
  const place = file === undefined ? variable : placeText(file, line)
  return place === undefined ? "" : `${place}: `
}

/** The key that a problem is about: the first text in backticks. */
function keyIn(problem: string): string {
  return /`([^`]+)`/.exec(problem)?.[1] ?? ""
}

/** Removes `$schema`, by which editors find the keys of a JSON file. */
function withoutSchema(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("$schema" in value)) return value
  const { $schema: _, ...rest } = value
  return rest
}

async function importFile(file: string, trusted: TrustedFiles | undefined): Promise<unknown> {
  const module = await runModule(file, trusted).catch((cause: unknown) => {
    if (cause instanceof ConfigError && cause.code === "untrusted-config") throw cause
    const { line, text } = describeModuleError(file, cause)
    throw new ConfigError(`${placeText(file, line)}: the configuration could not be loaded: ${text}`, { cause })
  })
  if ("default" in module) return module.default
  throw new ConfigError(`${file}: there is no default export. Write: export default defineConfig({ … })`)
}
