// The entry of the `karst` command: selects a command, reports errors, and sets the exit code.
import { readFileSync } from "node:fs"
import { helpFor } from "./help.ts"
import { UsageError } from "./usage-error.ts"

type Command = (args: string[]) => Promise<number>

// Each command is loaded when it is used, so that `karst --help` is fast.
const commands: Record<string, () => Promise<Command>> = {
  demo: async () => (await import("./demo.ts")).demoCommand,
  run: async () => (await import("./run-command.ts")).runPromptCommand,
  prompt: async () => (await import("./prompt-command.ts")).promptCommand,
  skills: async () => (await import("./skills-command.ts")).skillsCommand,
  worker: async () => (await import("./worker-command.ts")).workerCommand,
  mcp: async () => (await import("./mcp-command.ts")).mcpCommand,
  claude: async () => (await import("./coding-cli.ts")).codingCliCommand("claude"),
  codex: async () => (await import("./coding-cli.ts")).codingCliCommand("codex"),
  opencode: async () => (await import("./coding-cli.ts")).codingCliCommand("opencode"),
  gemini: async () => (await import("./coding-cli.ts")).codingCliCommand("gemini"),
  auth: async () => (await import("./auth-command.ts")).authCommand,
}

/** Runs a command and exits with 0 done, 1 failed, 2 usage, 3 stopped, 4 waiting or 130 aborted. */
export async function main(args: string[]): Promise<void> {
  exitOnClosedPipe()
  const code = await dispatch(args).catch(reportError)
  // Flush the output, then exit, even if a cell left timers or sockets open.
  await new Promise((resolve) => process.stdout.write("", resolve))
  process.exit(code)
}

async function dispatch([first, ...rest]: string[]): Promise<number> {
  if (first === undefined) return runCommand("demo", [])
  if (first === "--version" || first === "-v") return print(version())
  if (first === "--help" || first === "-h" || first === "help") return print(helpFor(rest[0]))
  if (Object.hasOwn(commands, first)) return runCommand(first, rest)
  if (first.startsWith("-") || /\s/.test(first)) return runCommand("run", [first, ...rest])
  throw new UsageError(
    `Unknown command "${first}". The commands are ${Object.keys(commands).join(", ")}; a prompt of one word needs: karst run "${first}"`,
  )
}

async function runCommand(name: string, args: string[]): Promise<number> {
  const options = args.includes("--") ? args.slice(0, args.indexOf("--")) : args
  if (options.includes("--help") || options.includes("-h")) return print(helpFor(name))
  const command = await commands[name]?.()
  return command ? command(args) : 2
}

function print(text: string): number {
  process.stdout.write(`${text.trim()}\n`)
  return 0
}

// Errors that the user can fix by another command line, setting or package are reported in one sentence; any other
// error is a bug and shows its stack.
function reportError(error: unknown): number {
  if (!(error instanceof Error)) throw error
  const isUserError = ["UsageError", "ConfigError", "MissingPackageError", "ProviderError"].includes(error.name)
  process.stderr.write(`karst: ${isUserError ? error.message : (error.stack ?? error.message)}\n`)
  return isUserError ? 2 : 1
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

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  return String(version)
}
