// Parses command lines and option values for all commands.
import { type ParseArgsOptionsConfig, parseArgs } from "node:util"
import type { DisplayMode } from "../display.ts"
import { UsageError } from "./usage-error.ts"

/** Calls `parseArgs` and throws its errors as usage errors. */
export function parseArguments<const T extends ParseArgsOptionsConfig>(command: string, args: string[], options: T) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const [problem = ""] = error.message.split(". ")
    throw new UsageError(`${problem}. See: karst ${command} --help`)
  }
}

export function parseDisplayMode(text: string | undefined): DisplayMode {
  const modes = ["full", "short", "result", "off"] as const
  const mode = modes.find((name) => name === (text ?? "full"))
  if (mode) return mode
  throw new UsageError(`--mode: "${text}" is not one of ${modes.join(", ")}.`)
}

export function parsePositiveInteger(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`${name}: "${text}" is not a whole number above 0.`)
}
