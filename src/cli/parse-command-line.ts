// Parses the arguments of a command by its options in the command table, and suggests corrections of misspelt names.
import { parseArgs } from "node:util"
import type { ArgumentSpec, CommandSpec, Input, OptionSpec, OptionSpecs } from "./command.ts"
import { UsageError } from "./usage-error.ts"

/** Options of every command. `main.ts` handles them. */
export const commonOptions = {
  help: { type: "flag", help: "show the help of the command" },
  verbose: { type: "flag", help: "show where an error comes from" },
} as const satisfies OptionSpecs

type Described<O extends OptionSpecs> = Pick<CommandSpec<O>, "options" | "takes" | "examples">

/** Parses and checks options and arguments. Throws a `UsageError` that names the cure. */
export async function parseCommandLine<O extends OptionSpecs>(
  path: string,
  command: Described<O>,
  args: string[],
): Promise<Input<O>> {
  const specs: OptionSpecs = { ...command.options, ...commonOptions }
  await refuseUnknownOption(path, specs, args)
  const { values, positionals } = parseStrictly(path, specs, args)
  checkArguments(path, command, positionals)
  const parsed: Record<string, unknown> = {}
  for (const [name, spec] of Object.entries(command.options)) parsed[name] = await parseValue(name, spec, values[name])
  // Each value was parsed by the option of its name.
  return { values: parsed as Input<O>["values"], positionals }
}

const nodeOptions = (specs: OptionSpecs) =>
  Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [
      name,
      {
        type: spec.type === "flag" ? ("boolean" as const) : ("string" as const),
        multiple: "multiple" in spec && spec.multiple === true,
      },
    ]),
  )

async function refuseUnknownOption(path: string, specs: OptionSpecs, args: string[]): Promise<void> {
  const { tokens } = parseArgs({
    args,
    options: nodeOptions(specs),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== "option" || Object.hasOwn(specs, token.name)) continue
    const hint = await suggestion(token.name, Object.keys(specs), (near) => `--${near}`)
    throw new UsageError(`Unknown option ${token.rawName}.${hint} See: karst ${path} --help`)
  }
}

function parseStrictly(path: string, specs: OptionSpecs, args: string[]) {
  try {
    return parseArgs({ args, options: nodeOptions(specs), allowPositionals: true, strict: true })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const [problem = ""] = error.message.split(/\.\s|\n/)
    throw new UsageError(`${problem.replace(/\.$/, "")}. See: karst ${path} --help`)
  }
}

function checkArguments(
  path: string,
  { takes, examples }: Pick<Described<OptionSpecs>, "takes" | "examples">,
  given: string[],
): void {
  const { least, most, usage }: ArgumentSpec = takes ?? { least: 0, most: 0, usage: "" }
  const example = examples[0] ? ` Example: ${examples[0].line}` : ""
  if (given.length < least) throw new UsageError(`karst ${path} needs ${usage}.${example}`)
  if (given.length <= most) return
  const what = most === 0 ? "takes no arguments" : `takes only ${usage}`
  throw new UsageError(`karst ${path} ${what}, and got "${given[most]}" as well.${example}`)
}

async function parseValue(name: string, spec: OptionSpec, given: unknown): Promise<unknown> {
  if (spec.type === "flag") return given === true
  if (spec.type === "text") return given ?? (spec.multiple ? [] : undefined)
  if (typeof given !== "string") return undefined
  switch (spec.type) {
    case "integer":
      if (/^[1-9]\d{0,8}$/.test(given)) return Number(given)
      throw new UsageError(`--${name}: "${given}" is not a whole number above 0.`)
    case "number":
      if (/^\d+(\.\d+)?$/.test(given)) return Number(given)
      throw new UsageError(`--${name}: "${given}" is not a number.`)
    case "duration":
      return parseDuration(name, given)
    case "choice":
      return await parseChoice(name, spec.choices, given)
    case "list": {
      const words = given.split(",").map((word) => word.trim())
      const wanted = words.filter((word) => word !== "")
      if (wanted.length === 0) throw new UsageError(`--${name}: name some of ${spec.choices.join(", ")}.`)
      return [...new Set(await Promise.all(wanted.map((word) => parseChoice(name, spec.choices, word))))]
    }
  }
}

async function parseChoice(name: string, choices: readonly string[], word: string): Promise<string> {
  if (choices.includes(word)) return word
  throw new UsageError(`--${name}: "${word}" is not one of ${choices.join(", ")}.${await suggestion(word, choices)}`)
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function parseDuration(name: string, text: string): number {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (count !== undefined) return Number(count) * (unitMs[unit] ?? 0)
  throw new UsageError(`--${name}: "${text}" is not a duration. Write a number and s, m, h or d, as 7d.`)
}

/** Returns ` Did you mean "…"?` with the known word that a misspelt one most likely means; empty if none is near.
 *  `write` writes the word as the user would. */
export async function suggestion(
  word: string,
  known: readonly string[],
  write: (near: string) => string = (near) => `"${near}"`,
): Promise<string> {
  // Imported at the first mistake, so that help is fast.
  const { nearestWord } = await import("../core/text/nearest-word.ts")
  const near = nearestWord(word, known)
  return near === undefined ? "" : ` Did you mean ${write(near)}?`
}
