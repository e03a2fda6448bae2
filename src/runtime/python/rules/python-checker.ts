// Checks Python cells against rules in a separate Python process, which cells cannot reach.
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { spawn } from "../../../core/child/child-process.ts"
import { ConfigError } from "../../../core/errors.ts"
import { serialQueue } from "../../../core/serial.ts"
import { positionAt } from "../../compiler/text-positions.ts"
import { findForbiddenText, type Rule, type RuleData, type RuleViolation } from "../../rules/rules.ts"

export interface PythonChecker extends AsyncDisposable {
  /** Returns the violations in source order; none if the cell may run. Never rejects: code that
   *  cannot be checked, or not in time, counts as a violation. So does IPython syntax (`!ls`, `%magic`, `x?`). */
  check(code: string): Promise<RuleViolation[]>
  /** Ends the process. May be called twice. */
  close(): Promise<void>
}

export interface PythonCheckerOptions {
  /** The interpreter, Python 3.10 or newer. */
  python: string
  rules: readonly Rule[]
  /** The time for one check, from its start. Default 10 s. */
  timeoutMs?: number | undefined
}

/** Starts the process at the first check, or if it died. Throws a `ConfigError` for rules that cannot check Python. */
export function createPythonChecker({ python, rules, timeoutMs = 10_000 }: PythonCheckerOptions): PythonChecker {
  const ruleData = pythonRuleData(rules)
  const regexRules = ruleData.flatMap((data) => (data.kind === "regex" ? [data] : []))
  const treeRules = ruleData.filter(({ kind }) => kind !== "regex")
  let checkerProcess: ReturnType<typeof startCheckerProcess> | undefined
  let closed = false
  // One check at a time, so that one that ends the process, or takes too long, does not end others.
  const inOrder = serialQueue()

  // Also without tree rules: the process rejects code that is not Python.
  const checkInProcess = async (code: string): Promise<RuleViolation[]> => {
    if (closed) return [uncheckableViolation("the runtime is closed")]
    if (!checkerProcess || checkerProcess.ended) checkerProcess = startCheckerProcess(python)
    try {
      return await checkerProcess.ask({ code, rules: treeRules }, timeoutMs)
    } catch (error) {
      return [uncheckableViolation(error instanceof Error ? error.message : String(error))]
    }
  }

  const checker: PythonChecker = {
    async check(code) {
      if (ruleData.length === 0) return []
      const textViolations = regexRules.flatMap((data) =>
        [...findForbiddenText(code, data.patterns, data)].map(({ offset, message }): RuleViolation => {
          return { rule: "regex", message, ...positionAt(code, offset) }
        }),
      )
      const found = [...textViolations, ...(await inOrder(() => checkInProcess(code)))]
      return found.sort((one, other) => one.line - other.line || one.column - other.column)
    },
    async close() {
      closed = true
      await checkerProcess?.end()
    },
    [Symbol.asyncDispose]: () => checker.close(),
  }
  return checker
}

/** Returns the rules as data. Throws a `ConfigError` for a rule that reads only TypeScript's syntax tree. Call it
 *  early to reject rules before the first cell. */
export function pythonRuleData(rules: readonly Rule[]): RuleData[] {
  return rules.map(({ name, data }) => {
    if (data) return data
    throw new ConfigError(
      `The rule "${name}" reads TypeScript's syntax tree and cannot check Python. Use importRule, functionRule, attributeRule, regexRule or safePythonRules().`,
    )
  })
}

function uncheckableViolation(reason: string): RuleViolation {
  return { rule: "check", message: `the cell could not be checked, so nothing is run: ${reason}`, line: 1, column: 1 }
}

const checkerProgram = fileURLToPath(new URL("../assets/karst_rules", import.meta.url))

function startCheckerProcess(python: string) {
  // -s -E -S ignore the user's site packages and environment; -B writes no bytecode files next to ours.
  const child = spawn(python, ["-BsES", checkerProgram], { stdio: ["pipe", "pipe", "pipe"] })
  let pending = Promise.withResolvers<RuleViolation[]>()
  let exitReason = ""
  let ended = false
  const exited = new Promise<void>((resolve) => {
    const end = (reason: string) => {
      ended = true
      pending.reject(new Error(reason))
      resolve()
    }
    child.once("error", (error) => end(`${python}: ${error.message}`))
    child.once("close", () => end(exitReason.trim().split("\n").at(-1) || "the checker ended"))
  })
  child.stderr.on("data", (text) => {
    exitReason = `${exitReason}${text}`.slice(-2_000)
  })
  // A write to a dead process fails; its "close" event reports the end.
  child.stdin.on("error", () => {})
  createInterface({ input: child.stdout }).on("line", (line) => {
    try {
      pending.resolve(JSON.parse(line))
    } catch {
      // A process that was killed may leave part of a line; its "close" event reports the end.
    }
  })
  setKeepsProgramAlive(child, false)

  return {
    get ended() {
      return ended
    },
    /** Asks one question at a time. */
    async ask(question: { code: string; rules: RuleData[] }, timeoutMs: number): Promise<RuleViolation[]> {
      pending = Promise.withResolvers()
      setKeepsProgramAlive(child, true)
      const timer = setTimeout(() => {
        exitReason = `it took longer than ${timeoutMs} ms`
        child.kill("SIGKILL")
      }, timeoutMs)
      child.stdin.write(`${JSON.stringify(question)}\n`)
      try {
        return await pending.promise
      } finally {
        clearTimeout(timer)
        setKeepsProgramAlive(child, false)
      }
    },
    async end() {
      // Keep the program alive until the process has ended.
      if (!ended) setKeepsProgramAlive(child, true)
      child.kill("SIGKILL")
      await exited
    },
  }
}

/** Sets whether the process and its pipes keep this program alive. */
function setKeepsProgramAlive(child: ChildProcessWithoutNullStreams, alive: boolean): void {
  for (const part of [child, child.stdin, child.stdout, child.stderr]) {
    // Node's types hide that the pipes are sockets.
    const handle = part as { ref?: () => void; unref?: () => void }
    if (alive) handle.ref?.()
    else handle.unref?.()
  }
}
