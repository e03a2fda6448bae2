// The entry of the `karst` command: finds a command in the table, reports errors, and sets the exit code.
import { trustsAll } from "../config/find-files.ts"
import { refuseProjectPackages } from "../core/optional-package.ts"
import { ownVersion } from "../core/own-version.ts"
import { systemErrorText } from "../core/text/system-error-text.ts"
import { type Command, type CommandGroup, listOf } from "./command.ts"
import { commands, isGroup } from "./commands.ts"
import { commandHelp, groupHelp, mainHelp } from "./help.ts"
import { suggestion } from "./parse-command-line.ts"
import { printLine, printNotice } from "./print-text.ts"
import { UsageError } from "./usage-error.ts"

/** Runs a command and exits with 0 done, 1 failed, 2 usage, 3 stopped, 4 waiting or 130 aborted. */
export async function main(args: string[]): Promise<void> {
  exitOnClosedPipe()
  // Keeps the process alive. While only a promise of the user's code is awaited, Node would exit with its own exit
  // code.
  setInterval(() => {}, 2 ** 30)
  // Packages in the folder in which the command runs are code that the user has not trusted yet.
  if (!trustsAll(process.env)) refuseProjectPackages()
  const code = await dispatch(args).catch((error) => reportError(error, optionsIn(args).includes("--verbose")))
  // Flush the output, then exit, even if a cell left timers or sockets open.
  await new Promise((resolve) => process.stdout.write("", resolve))
  process.exit(code)
}

async function dispatch(args: string[]): Promise<number> {
  const [first, ...rest] = args
  if (first === undefined) return runCommand("demo", [])
  if (first === "--version" || first === "-v") return print(ownVersion())
  if (first === "--help" || first === "-h") return print(mainHelp())
  if (first === "help") return print(await helpFor(rest))
  // Called by the scripts of `karst completion`.
  if (first === "complete" && rest[0] === "--")
    return (await import("./commands/completion-command.ts")).printCandidates(rest.slice(1))
  if (commands.has(first)) return runCommand(first, rest)
  if (first.startsWith("-") || /\s/.test(first)) return runCommand("run", args)
  throw new UsageError(`${await unknownCommand(first)} To run a prompt of one word: karst run "${first}"`)
}

async function runCommand(name: string, args: string[]): Promise<number> {
  const wantsHelp = optionsIn(args).some((option) => option === "--help" || option === "-h")
  const { path, command, rest } = await findCommand([name, ...args], wantsHelp)
  if (isGroup(command)) return print(groupHelp(command))
  return wantsHelp ? print(commandHelp(path, command)) : command.run(path, rest)
}

async function helpFor(names: string[]): Promise<string> {
  if (names.length === 0) return mainHelp()
  const { path, command } = await findCommand(names, true)
  return isGroup(command) ? groupHelp(command) : commandHelp(path, command)
}

interface FoundCommand {
  path: string
  command: Command | CommandGroup
  rest: string[]
}

/** Finds the command that the first words name. A group without one of its commands is its list, if it has one; help
 *  accepts any group. */
async function findCommand([name = "", ...args]: string[], acceptsGroup: boolean): Promise<FoundCommand> {
  const entry = commands.get(name)
  if (!entry) throw new UsageError(await unknownCommand(name))
  if (!isGroup(entry)) return { path: name, command: entry, rest: args }
  const [action, ...rest] = args
  const command = entry.commands.find((each) => each.name === action)
  if (command) return { path: `${name} ${action}`, command, rest }
  if (action === undefined || action.startsWith("-")) {
    if (acceptsGroup) return { path: name, command: entry, rest: args }
    const list = listOf(entry)
    if (list) return { path: `${name} list`, command: list, rest: args }
  }
  const names = entry.commands.map((each) => each.name)
  const hint = await suggestion(action ?? "", names, (near) => `karst ${name} ${near}`)
  const problem = action === undefined ? "Say what to do." : `Unknown command "${name} ${action}".${hint}`
  const all = names.map((each) => `karst ${name} ${each}`).join(", ")
  throw new UsageError(`${problem} There are: ${all}. See: karst ${name} --help`)
}

async function unknownCommand(name: string): Promise<string> {
  const names = [...commands.keys()]
  const hint = await suggestion(name, names, (near) => `karst ${near}`)
  return `Unknown command "${name}".${hint} The commands are ${names.join(", ")}.`
}

/** The arguments before `--`; the ones after it are never options. */
function optionsIn(args: string[]): string[] {
  return args.includes("--") ? args.slice(0, args.indexOf("--")) : args
}

function print(text: string): number {
  printLine(text.trim())
  return 0
}

// Errors that another command line, setting or package avoids.
const usageErrors = ["UsageError", "ConfigError", "MissingPackageError", "ProviderError"]

function reportError(error: unknown, verbose: boolean): number {
  if (!(error instanceof Error)) throw error
  const { name, message, stack = message } = error
  // Errors of Karst explain themselves; for others the stack is what helps.
  const isKnown = usageErrors.includes(name) || "retryable" in error
  const text = isKnown ? message : (systemErrorText(error) ?? `${message} Add --verbose to see where it comes from.`)
  printNotice(verbose ? fullStack(stack, error.cause) : text)
  return usageErrors.includes(name) ? 2 : 1
}

function fullStack(stack: string, cause: unknown): string {
  return cause instanceof Error ? `${stack}\nCaused by: ${cause.stack ?? cause.message}` : stack
}

// `karst … | head` closes our output early, which is not an error.
function exitOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0)
      throw error
    })
  }
}
