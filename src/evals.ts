// karst/evals: runs suites of eval cases and scores the state they leave.
import type { CodeRunOptions } from "./agent/create-agent.ts"
import type { Agent, LiveObjects, RunResult } from "./core/agent.ts"
import * as check from "./core/checks/check-options.ts"
import { ConfigError, type ErrorData, errorData } from "./core/errors.ts"
import type { Status } from "./core/event.ts"
import type { Prompt } from "./core/message.ts"
import { replacePrivateFile } from "./core/private-files.ts"
import { mapConcurrently } from "./core/serial.ts"
import { addUsage, noUsage, type Usage } from "./core/usage.ts"
import { type Judgement, toVerdict, type Verdict } from "./core/verdict.ts"
import { reportTable } from "./evals/report-table.ts"

export type { Judgement, Verdict } from "./core/verdict.ts"

/** One task and what the scorers compare its results with. */
export interface EvalCase<E = unknown> {
  name: string
  prompt: Prompt
  /** Prompts of later turns in the same conversation. */
  followUps?: readonly Prompt[] | undefined
  /** Default: the suite's agent. Its runtime must be a factory, so that each case has its own objects. */
  agent?: Agent | undefined
  expected?: E | undefined
  /** Options for each run of the case, such as `limits` or `outputs`. */
  options?: CodeRunOptions | undefined
}

/** Scores the result of a case. A scorer that throws has not passed; its error is the reason. */
export type Scorer<E = unknown> = (outcome: EvalOutcome<E>) => Judgement | Promise<Judgement>

export interface EvalOutcome<E = unknown> {
  case: EvalCase<E>
  expected: E | undefined
  /** The result of the last turn. */
  result: RunResult
  /** The runtime with the live objects; still open. */
  runtime: LiveObjects
}

export interface SuiteOptions {
  /** The agent of cases that have none of their own. */
  agent?: Agent | undefined
  /** How many cases run at the same time. Default 4. */
  maxParallel?: number | undefined
  /** How often each case is run. Default 1. */
  trials?: number | undefined
  /** Aborts the runs. */
  signal?: AbortSignal | undefined
  /** Called after each case; its errors are ignored. */
  onProgress?: ((progress: { done: number; total: number; record: EvalRecord }) => unknown) | undefined
}

const suiteChecks: check.OptionChecks<SuiteOptions> = {
  agent: check.mustBeObject,
  maxParallel: check.mustBeLimit(1),
  trials: check.mustBeIntegerFrom(1),
  signal: check.mustBeSignal,
  onProgress: check.mustBeFunction,
}

const caseChecks: check.OptionChecks<EvalCase> = {
  name: check.mustBeText,
  prompt: check.mustBeEither("a prompt", check.mustBeText, check.mustBeList),
  followUps: check.mustBeList,
  agent: check.mustBeObject,
  expected: check.anything,
  options: check.mustBeObject,
}

/** The result of one trial of a case, as plain JSON. */
export interface EvalRecord {
  name: string
  /** Starts at 1. */
  trial: number
  status: Status
  /** True if every scorer passed. */
  pass: boolean
  /** The mean score of the scorers. */
  score: number
  verdicts: { [scorer: string]: Verdict }
  output: string
  cycles: number
  usage: Usage
  durationMs: number
  error?: ErrorData
}

export interface EvalReport {
  /** In the order of the cases. */
  cases: EvalRecord[]
  passed: number
  total: number
  /** The mean score of the cases. */
  score: number
  usage: Usage
  durationMs: number
  /** Returns a table for people. */
  table(): string
  /** Writes the report as JSON. */
  save(path: string): Promise<void>
}

/** Runs every case on an agent and scores the state it left. A failed case is a record like any other; the suite
 *  rejects only for invalid options. */
export async function suite<E = unknown>(
  cases: readonly EvalCase<E>[],
  scorers: Record<string, Scorer<E>>,
  options: SuiteOptions = {},
): Promise<EvalReport> {
  check.checkOptions("suite()", options, suiteChecks)
  const { maxParallel = 4, trials = 1, onProgress } = options
  checkSuite(cases, scorers, options)
  const started = performance.now()
  const work = cases.flatMap((each) => Array.from({ length: trials }, (_, index) => ({ each, trial: index + 1 })))
  let done = 0
  const records = await mapConcurrently(work, maxParallel, async ({ each, trial }) => {
    const record = await runCase(each, trial, scorers, options)
    done++
    await ignoreErrors(() => onProgress?.({ done, total: work.length, record }))
    return record
  })
  return createReport(records, performance.now() - started)
}

// Observers cannot affect the suite, even if they throw.
async function ignoreErrors(observer: () => unknown): Promise<void> {
  try {
    await observer()
  } catch {}
}

async function runCase<E>(
  each: EvalCase<E>,
  trial: number,
  scorers: Record<string, Scorer<E>>,
  options: SuiteOptions,
): Promise<EvalRecord> {
  const started = performance.now()
  const elapsedMs = () => Math.round(performance.now() - started)
  try {
    const { result, verdicts, usage, cycles } = await judgeCase(each, scorers, options)
    const all = Object.values(verdicts)
    return {
      name: each.name,
      trial,
      status: result.status,
      pass: all.every(({ pass }) => pass),
      score: mean(all.map(({ score }) => score)),
      verdicts,
      output: result.output,
      cycles,
      usage,
      durationMs: elapsedMs(),
      ...(result.error && { error: errorData(result.error.cause ?? result.error) }),
    }
  } catch (error) {
    const reason = `The case could not be run: ${errorData(error).message}`
    const verdicts = allFailed(scorers, reason)
    const nothing = { output: "", cycles: 0, usage: noUsage, durationMs: elapsedMs() }
    const status: Status = options.signal?.aborted ? "aborted" : "failed"
    return { name: each.name, trial, status, pass: false, score: 0, verdicts, ...nothing, error: errorData(error) }
  }
}

async function judgeCase<E>(each: EvalCase<E>, scorers: Record<string, Scorer<E>>, options: SuiteOptions) {
  options.signal?.throwIfAborted()
  const agent = each.agent ?? options.agent
  if (!agent) throw noAgent(each.name)
  await using session = await agent.session({ signal: options.signal })
  let result = await session.send(each.prompt, each.options).settled
  let { usage, cycles } = result
  for (const prompt of each.followUps ?? []) {
    if (result.status === "failed" || result.status === "aborted") break
    result = await session.send(prompt, each.options).settled
    usage = addUsage(usage, result.usage)
    cycles += result.cycles
  }
  return { result, usage, cycles, verdicts: await judge(each, result, session.runtime, scorers) }
}

async function judge<E>(
  each: EvalCase<E>,
  result: RunResult,
  runtime: LiveObjects | undefined,
  scorers: Record<string, Scorer<E>>,
): Promise<{ [scorer: string]: Verdict }> {
  if (!runtime || result.status === "failed" || result.status === "aborted") {
    const why = runtime
      ? `The run ${result.status}: ${result.error?.message ?? "aborted"}`
      : "The agent has no runtime."
    return allFailed(scorers, why)
  }
  const verdicts: { [scorer: string]: Verdict } = {}
  for (const [name, score] of Object.entries(scorers)) {
    try {
      verdicts[name] = toVerdict(await score({ case: each, expected: each.expected, result, runtime }))
    } catch (error) {
      verdicts[name] = { pass: false, score: 0, reason: `${name} threw ${errorData(error).message}` }
    }
  }
  return verdicts
}

function allFailed(scorers: Record<string, unknown>, reason: string): { [scorer: string]: Verdict } {
  return Object.fromEntries(Object.keys(scorers).map((name) => [name, { pass: false, score: 0, reason }]))
}

function createReport(cases: EvalRecord[], durationMs: number): EvalReport {
  const data = {
    cases,
    passed: cases.filter(({ pass }) => pass).length,
    total: cases.length,
    score: mean(cases.map(({ score }) => score)),
    usage: cases.reduce((sum, { usage }) => addUsage(sum, usage), noUsage),
    durationMs: Math.round(durationMs),
  }
  return {
    ...data,
    table: () => reportTable(data),
    async save(path) {
      await replacePrivateFile(path, `${JSON.stringify(data, undefined, 2)}\n`)
    },
  }
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

function checkSuite(cases: readonly EvalCase[], scorers: object, { agent }: SuiteOptions): void {
  if (cases.length === 0) throw new ConfigError("suite: there are no cases.")
  if (Object.keys(scorers).length === 0)
    throw new ConfigError("suite: there are no scorers, so nothing would be judged.")
  const names = new Set<string>()
  for (const [index, each] of cases.entries()) {
    check.checkOptions(`suite(): cases[${index}]`, each, caseChecks)
    if (typeof each.name !== "string" || each.prompt === undefined)
      throw new ConfigError(`suite(): cases[${index}] lacks a name or a prompt. Give it both.`)
    if (names.has(each.name)) throw new ConfigError(`suite: two cases are named "${each.name}".`)
    names.add(each.name)
    const used = each.agent ?? agent
    if (!used) throw noAgent(each.name)
    if (used.runtime === undefined) continue
    throw new ConfigError(
      `suite: the agent "${used.name}" has one runtime for all its runs, so cases would see each other's objects. ` +
        "Give it a factory: runtime: () => jsRuntime({ … }).",
    )
  }
}

function noAgent(name: string): ConfigError {
  return new ConfigError(`suite: the case "${name}" has no agent. Give it one, or give the suite one.`)
}
