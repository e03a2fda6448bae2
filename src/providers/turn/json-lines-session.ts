// A conversation with a CLI that is started once per turn and writes JSON lines.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { attempt } from "../../core/attempt.ts"
import type { Json } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"
import { abortError } from "../../core/run.ts"
import type { ProviderSession, Step, TurnRequest, TurnResult, TurnServices } from "../provider.ts"
import { exitFailure } from "../provider-failure.ts"
import type { JsonObject } from "../read-json.ts"
import { createBackgroundWait } from "./background-wait.ts"
import { type CliProcess, type CliProcessEnd, startCliProcess } from "./cli-process.ts"

export interface JsonLinesCli {
  /** The provider's name, and the name shown to people. */
  readonly provider: string
  readonly title: string
  /** Returns the command of a turn. It may write files into the folder, which is private and removed after the turn. */
  command(turn: TurnRequest, location: TurnLocation): Promise<TurnCommand>
  /** Creates the parser of a turn's output. It has no effects but its own state, so it can also read recorded lines. */
  parser(turn: TurnRequest, location: Pick<TurnLocation, "key">): LineParser
}

/** The conversation of a turn, and the folder for its files. */
export interface TurnLocation {
  /** The conversation to resume. */
  readonly key: string | undefined
  /** Continue in a copy of that conversation. */
  readonly fork: boolean
  readonly folder: string
}

export interface TurnCommand {
  args: readonly string[]
  env?: Readonly<Record<string, string>> | undefined
  /** Written to its standard input. */
  input: string
  /** Keeps the input open until the turn is over. Default false. */
  keepsInputOpen?: boolean | undefined
  /** Called when the turn is over, before the folder is removed. */
  cleanUp?: (() => Promise<void>) | undefined
}

export interface LineParser {
  read(line: JsonObject): ParsedLine
  /** The result of a turn whose process exited before the parser saw its end. */
  readExit(end: CliProcessEnd): TurnResult
  /** Reads a line of standard error: `kept` if it belongs to an error message, `isCalling`: whether a call is running
   *  from now on (undefined: as before). For a CLI that reports calls only when they have ended. */
  readLogLine?(line: string): { kept: boolean; isCalling?: boolean | undefined }
  /** The input lines that answer a permission request, and that send a message to the running model. */
  permissionAnswer?(ask: PermissionRequest, decision: "allow" | "always" | "deny"): Json
  steeringLine?(text: string): Json
}

export interface ParsedLine {
  steps: readonly Step[]
  /** A piece of something that a later line repeats in full; no `raw` step is reported for it. */
  partial?: boolean | undefined
  /** Set when the turn is over. */
  end?: TurnResult | undefined
  /** Set when the turn has an answer but background work continues. */
  background?: BackgroundWork | undefined
  /** With `end`: stop the process at once. */
  mustStop?: boolean | undefined
  /** Whether a call is running from now on, if no steps report it; undefined: as before. */
  isCalling?: boolean | undefined
  /** A permission request of the CLI. */
  permission?: PermissionRequest | undefined
}

/** Background work to wait for. If it takes too long, the turn ends with the result it has. */
export interface BackgroundWork {
  end: TurnResult
  /** How long all waits of a turn may take together. */
  maxMs: number
  /** Warnings for the start of the wait, and for one that took too long. */
  startWarning?: string | undefined
  timeoutWarning?: string | undefined
}

export interface PermissionRequest {
  id: string
  name: string
  input: Json
  /** Data that the answer must contain. */
  request: Json
}

export function createJsonLinesSession(
  cli: JsonLinesCli,
  opening: { key?: string | undefined; fork?: boolean | undefined },
): ProviderSession {
  let { key, fork = false } = opening
  return {
    get key() {
      return fork ? undefined : key
    },
    get forkOf() {
      return fork ? key : undefined
    },
    async turn(turn, services) {
      const folder = await mkdtemp(join(tmpdir(), "karst-cli-"))
      let command: TurnCommand | undefined
      try {
        const location = { key, fork, folder }
        command = await cli.command(turn, location)
        services.signal.throwIfAborted()
        return await followTurn(cli, command, cli.parser(turn, location), turn, folder, {
          ...services,
          report(step) {
            if (step.type === "key") {
              key = step.key
              fork = false
            }
            services.report(step)
          },
        })
      } catch (error) {
        throw services.signal.aborted ? abortError(services.signal) : error
      } finally {
        await command?.cleanUp?.()
        await rm(folder, { recursive: true, force: true })
      }
    },
    close: async () => undefined,
  }
}

async function followTurn(
  cli: JsonLinesCli,
  command: TurnCommand,
  parser: LineParser,
  { settings }: TurnRequest,
  folder: string,
  services: TurnServices,
): Promise<TurnResult> {
  const { program, cwd, timeoutMs, idleTimeoutMs } = settings
  const openCalls = new Set<string>()
  /** The last lines that were not JSON; some errors are written that way. */
  const nonJsonLines: string[] = []
  let end: TurnResult | undefined
  let parserError: unknown
  /** True if its log says that a call is running. */
  let isCalling = false
  const wait = createBackgroundWait((last, warning) => {
    if (warning !== undefined) services.report({ type: "warning", code: "background-ended", message: warning })
    end = last
    child.finish()
  })

  function readLine(line: string): void {
    // Output after the end, or after a stop, does not change the result.
    if (line.trim() === "" || end || parserError || child.stopped !== undefined) return
    const json = parseLine(line)
    const parsed = json ? parser.read(json) : { steps: [] }
    if (!parsed.partial) services.report({ type: "raw", data: json ?? line })
    if (!json) nonJsonLines.splice(0, nonJsonLines.push(line) - 5)
    for (const step of parsed.steps) {
      if (step.type === "call") openCalls.add(step.id)
      if (step.type === "result") openCalls.delete(step.id)
      if (isModelActivity(step)) wait.pause()
      services.report(step)
    }
    if (parsed.permission) void ask(parsed.permission)
    if (parsed.background) {
      const warning = wait.start(parsed.background)
      if (warning !== undefined) services.report({ type: "warning", code: "background-running", message: warning })
    }
    if (parsed.isCalling !== undefined) isCalling = parsed.isCalling
    updateBusy()
    for (const text of parser.steeringLine ? services.takeSteering() : []) write(parser.steeringLine?.(text))
    if (!parsed.end) return
    wait.pause()
    end = parsed.end
    if (parsed.mustStop) child.stop("abort")
    else child.finish()
  }

  // The idle time-out does not apply while the CLI waits for a call or for background work.
  function updateBusy(): void {
    child.setBusy(openCalls.size > 0 || isCalling || wait.isWaiting)
  }

  async function ask(question: PermissionRequest): Promise<void> {
    openCalls.add(question.id)
    const decision = await services.approve(question).catch(() => "deny" as const)
    write(parser.permissionAnswer?.(question, decision))
  }

  function write(json: Json | undefined): void {
    if (json !== undefined) child.write(`${JSON.stringify(json)}\n`)
  }

  const child: CliProcess = startCliProcess({
    program,
    args: command.args,
    cwd,
    env: { ...settings.env, ...command.env },
    folder,
    signal: services.signal,
    timeoutMs,
    idleTimeoutMs,
    ...(parser.readLogLine && {
      filterLogLine(text: string) {
        const said = parser.readLogLine?.(text)
        if (said?.isCalling !== undefined) {
          isCalling = said.isCalling
          updateBusy()
        }
        return said?.kept ?? true
      },
    }),
    onLine(text) {
      try {
        readLine(text)
      } catch (error) {
        // A bug in a parser ends the turn, not this program.
        parserError ??= error
        child.stop("abort")
      }
    },
  })
  child.write(command.input)
  if (!command.keepsInputOpen) child.endInput()
  const exit = await child.ended
  wait.pause()
  services.signal.throwIfAborted()
  if (parserError) throw parserError
  if (end) return end
  const exitWithOutput = { ...exit, stderr: exit.stderr.trim() === "" ? nonJsonLines.join("\n") : exit.stderr }
  const ended = parser.readExit(exitWithOutput)
  // A time-out is the reason, whatever the CLI wrote before it.
  return exit.stopped === "timeout" ? { ...ended, failure: exitFailure(cli, exitWithOutput, settings) } : ended
}

// Returns true for steps of the turn's own model: it works again, so background work has reported back.
function isModelActivity(step: Step): boolean {
  if (step.type === "model") return true
  return (step.type === "text" || step.type === "reasoning" || step.type === "call") && step.within === undefined
}

function parseLine(line: string): JsonObject | undefined {
  const json: Json | undefined = attempt(() => JSON.parse(line))
  return isRecord(json) ? json : undefined
}
