import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Json } from "../../core/json.ts"
import { abortError } from "../../core/run.ts"
import type { ProviderSession, Step, TurnRequest, TurnResult, TurnServices } from "../provider.ts"
import { exitFailure } from "../provider-failure.ts"
import { createBackgroundWait } from "./background-wait.ts"
import { type CliProcess, type CliProcessEnd, startCliProcess } from "./cli-process.ts"

/** A CLI that is started once a turn and writes JSON lines. */
export interface JsonLinesCli {
  /** The name of the CLI, and its name for people. */
  readonly provider: string
  readonly title: string
  /** How a turn is started. Files go into the folder, which is private and gone after the turn. */
  command(turn: TurnRequest, place: TurnPaths): Promise<TurnCommand>
  /** Reads what it writes: pure but for its own state, so that recorded lines can be read as well. */
  parser(turn: TurnRequest, place: Pick<TurnPaths, "key">): LineParser
}

export interface TurnPaths {
  /** The conversation to go on with. */
  readonly key: string | undefined
  /** Whether to leave that as it is and go on in a new one. */
  readonly fork: boolean
  readonly folder: string
}

export interface TurnCommand {
  args: readonly string[]
  env?: Readonly<Record<string, string>> | undefined
  /** What it reads. */
  input: string
  /** Whether there is more to come, until the turn is over. */
  keepsInputOpen?: boolean | undefined
  /** Called when the turn is over, before the folder is removed. */
  cleanUp?: (() => Promise<void>) | undefined
}

export interface LineParser {
  read(line: { [key: string]: Json }): ParsedLine
  /** What a process that ended before its turn did means. */
  readExit(end: CliProcessEnd): TurnResult
  /** Takes a line of its log: whether it belongs to what the CLI says of a failure, and whether a call is under way from here on
   *  (undefined: as before). By a CLI that tells of calls only when they are over. */
  readLogLine?(line: string): { kept: boolean; calls?: boolean | undefined }
  /** What to write where it asked, and where somebody has something to say. */
  permissionAnswer?(ask: PermissionRequest, decision: "allow" | "always" | "deny"): Json
  steeringLine?(text: string): Json
}

export interface ParsedLine {
  steps: readonly Step[]
  /** Whether it is but a piece of what another line has whole: it is not kept. */
  partial?: boolean | undefined
  /** The turn is over. */
  end?: TurnResult | undefined
  /** The turn has an answer, and work of it goes on. */
  background?: BackgroundWork | undefined
  /** Whether it must not do another thing: it is not waited for. */
  mustStop?: boolean | undefined
  /** Whether a call is under way from here on, where no steps say so; undefined: as before. */
  isCalling?: boolean | undefined
  /** It asks whether it may do something. */
  permission?: PermissionRequest | undefined
}

/** A turn that has its answer and waits for more: unless that comes, it ends with what it has. */
export interface BackgroundWork {
  end: TurnResult
  /** How long such waits of a turn may take together. */
  maxMs: number
  /** Warnings for the beginning of a wait and for one that took too long. */
  startWarning?: string | undefined
  timeoutWarning?: string | undefined
}

export interface PermissionRequest {
  id: string
  name: string
  input: Json
  /** What its answer must carry. */
  request: Json
}

/** A conversation with such a CLI. */
export function createJsonLinesSession(
  cli: JsonLinesCli,
  opening: { key?: string | undefined; fork?: boolean | undefined },
): ProviderSession {
  let { key, fork = false } = opening
  return {
    get key() {
      return fork ? undefined : key
    },
    async turn(turn, services) {
      const folder = await mkdtemp(join(tmpdir(), "karst-cli-"))
      let command: TurnCommand | undefined
      try {
        const place = { key, fork, folder }
        command = await cli.command(turn, place)
        services.signal.throwIfAborted()
        return await followTurn(cli, command, cli.parser(turn, place), turn, folder, {
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
  const open = new Set<string>()
  /** The last lines that were no JSON: some errors are told so. */
  const mutter: string[] = []
  let end: TurnResult | undefined
  let broken: unknown
  /** Whether its log says that a call is under way. */
  let calls = false
  const wait = createBackgroundWait((last, warning) => {
    if (warning !== undefined) services.report({ type: "warning", code: "background-ended", message: warning })
    end = last
    child.finish()
  })

  function take(line: string): void {
    // What a process says while it is being ended does not change why it was.
    if (line.trim() === "" || end || broken || child.stopped !== undefined) return
    const json = parseLine(line)
    const parsed = json ? parser.read(json) : { steps: [] }
    if (!parsed.partial) services.report({ type: "raw", data: json ?? line })
    if (!json) mutter.splice(0, mutter.push(line) - 5)
    for (const step of parsed.steps) {
      if (step.type === "call") open.add(step.id)
      if (step.type === "result") open.delete(step.id)
      if (isModelActivity(step)) wait.pause()
      services.report(step)
    }
    if (parsed.permission) void ask(parsed.permission)
    if (parsed.background) {
      const warning = wait.start(parsed.background)
      if (warning !== undefined) services.report({ type: "warning", code: "background-running", message: warning })
    }
    if (parsed.isCalling !== undefined) calls = parsed.isCalling
    isBusy()
    for (const text of parser.steeringLine ? services.takeSteering() : []) write(parser.steeringLine?.(text))
    if (!parsed.end) return
    wait.pause()
    end = parsed.end
    if (parsed.mustStop) child.stop("abort")
    else child.finish()
  }

  // While something is done for it, it may be silent.
  function isBusy(): void {
    child.setBusy(open.size > 0 || calls || wait.isWaiting)
  }

  async function ask(question: PermissionRequest): Promise<void> {
    open.add(question.id)
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
        if (said?.calls !== undefined) {
          calls = said.calls
          isBusy()
        }
        return said?.kept ?? true
      },
    }),
    onLine(text) {
      try {
        take(text)
      } catch (error) {
        // A bug of ours must not end the program: it ends the turn.
        broken ??= error
        child.stop("abort")
      }
    },
  })
  child.write(command.input)
  if (!command.keepsInputOpen) child.endInput()
  const exit = await child.ended
  wait.pause()
  services.signal.throwIfAborted()
  if (broken) throw broken
  if (end) return end
  const told = { ...exit, stderr: exit.stderr.trim() === "" ? mutter.join("\n") : exit.stderr }
  const ended = parser.readExit(told)
  // Whatever else it wrote before.
  return exit.stopped === "timeout" ? { ...ended, failure: exitFailure(cli, told, settings) } : ended
}

// What the model of the turn itself does: whatever it waited for has come.
function isModelActivity(step: Step): boolean {
  if (step.type === "model") return true
  return (step.type === "text" || step.type === "reasoning" || step.type === "call") && step.within === undefined
}

function parseLine(line: string): { [key: string]: Json } | undefined {
  try {
    const json: unknown = JSON.parse(line)
    // What JSON.parse gives is JSON.
    return typeof json === "object" && json !== null && !Array.isArray(json)
      ? (json as { [key: string]: Json })
      : undefined
  } catch {
    return undefined
  }
}
