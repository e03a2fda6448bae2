// The contract of the command table: the name, arguments, options and examples of each command, and what it runs.
// Help texts, shell completion and the page docs/cli.md are made from these descriptions.
import { parseCommandLine } from "./parse-command-line.ts"

/** Options that take a value name it for help texts, such as `<file>`. */
export type OptionSpec =
  | { type: "flag"; help: string }
  /** `multiple`: the option can be given several times. `files`: the shell completes names of files. */
  | { type: "text"; value: string; help: string; multiple?: true; files?: true }
  /** A whole number above 0. */
  | { type: "integer"; value: string; help: string }
  | { type: "number"; value: string; help: string }
  /** Such as 30s, 15m, 12h or 7d; the parsed value is in milliseconds. */
  | { type: "duration"; value: string; help: string }
  | { type: "choice"; choices: readonly string[]; help: string }
  /** Several of the choices, separated by commas. */
  | { type: "list"; value: string; choices: readonly string[]; help: string }

/** The options of a command by name, without the dashes. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>

export type OptionValue<O extends OptionSpec> = O extends { type: "flag" }
  ? boolean
  : O extends { type: "integer" | "number" | "duration" }
    ? number | undefined
    : O extends { type: "choice"; choices: readonly (infer C)[] }
      ? C | undefined
      : O extends { type: "list"; choices: readonly (infer C)[] }
        ? C[] | undefined
        : O extends { multiple: true }
          ? string[]
          : string | undefined

/** A parsed command line. */
export interface Input<O extends OptionSpecs = OptionSpecs> {
  values: { [K in keyof O]: OptionValue<O[K]> }
  /** The arguments that are not options. */
  positionals: string[]
}

/** The arguments of a command that are not options. */
export interface ArgumentSpec {
  /** As help texts show them: `<file>`, `[<prompt>]`. */
  usage: string
  least: number
  most: number
  /** The shell completes names of files. */
  files?: true
  /** The shell completes these words. */
  choices?: readonly string[]
}

export interface Example {
  line: string
  /** What the line does. */
  does: string
}

export interface CommandSpec<O extends OptionSpecs> {
  name: string
  /** One line that begins with a verb. */
  summary: string
  /** Default: none. */
  takes?: ArgumentSpec | undefined
  options: O
  examples: readonly Example[]
  /** Paragraphs below the options. */
  notes?: readonly string[] | undefined
  /** The page of docs/ that explains more. */
  page?: string | undefined
  /** Imports the function that runs the command; it returns the exit code. */
  load: () => Promise<(input: Input<O>) => Promise<number>>
}

/** A command of the table. */
export interface Command extends Omit<CommandSpec<OptionSpecs>, "load"> {
  /** Parses the arguments and runs the command; returns the exit code. `path` is the full name: `sessions list`. */
  run(path: string, args: string[]): Promise<number>
}

/** Commands that share their first word, as `karst sessions list` and `karst sessions show`. */
export interface CommandGroup {
  name: string
  summary: string
  page?: string | undefined
  commands: readonly Command[]
}

/** The command of a group that lists its things. */
export function listOf(group: CommandGroup): Command | undefined {
  return group.commands.find(({ name }) => name === "list")
}

export function defineCommand<const O extends OptionSpecs>(spec: CommandSpec<O>): Command {
  const { load, ...described } = spec
  return {
    ...described,
    async run(path, args) {
      const input = await parseCommandLine(path, described, args)
      return (await load())(input)
    },
  }
}
