// What the cases of the handle suite are made of, and how one case is run.
import assert from "node:assert/strict"
import type { Bindings } from "../../runtime/bindings.ts"
import type { CallGate, CellExecution, CellOptions, Runtime, RuntimeCall } from "../../runtime/runtime.ts"
import type { Code, Language } from "../runtime/runtime-case.ts"

/** One numbered case: the injected objects, the cells to run, and the expected results. */
export interface HandleCase {
  readonly title: string
  /** The languages in which the case has no meaning, with the reason. */
  readonly notApplicable: { readonly [L in Language]?: string | undefined }
  /** True if the case ends or fills its runtime, so that no other case may share it. */
  readonly ownRuntime: boolean
  run(runtime: Runtime, number: number): Promise<void>
}

export type HandleCases = { readonly [number: number]: HandleCase }

type Host = Record<string, unknown>
type Cells = string | readonly string[]

interface CaseSpec<H extends Host> {
  ownRuntime?: boolean
  /** Creates the host's objects. Each is injected under a name that no other case uses; `$order` in a cell stands for
   *  the name of `order`. `$take` (records its arguments) and `$echo` (returns its argument) are always available. */
  host?: () => H
  /** Creates the bindings, if they are more than the objects themselves. */
  inject?: (host: H) => Bindings
  /** The call gate of every cell; each call is first recorded in `calls`. Default: allows every call. */
  gate?: CallGate
  /** The expected value of the last cell, or a function that returns it for a language. */
  value?: unknown
  /** The last cell must fail with this message. */
  error?: RegExp
  /** Every cell must fail with this message. */
  errors?: RegExp
  /** The expected hints of the last cell, in order. Default: none for a cell that succeeds, any for one that fails. */
  hints?: readonly RegExp[] | "any"
  holds?: (outcome: CaseOutcome<H>) => unknown
}

/** The cells of each language. A Python cell that is left out is the TypeScript cell without `await`. */
type InLanguages =
  | { typescript: Cells; python?: Cells; notApplicable?: never }
  | { typescript: Cells; python?: never; notApplicable: { python: string } }
  | { typescript?: never; python: Cells; notApplicable: { typescript: string } }

/** What happened. Messages, hints and calls show the names used in the table (`order` for `$order`). */
export interface CaseOutcome<H extends Host = Host> {
  readonly host: H
  readonly language: Language
  readonly runtime: Runtime
  readonly executions: readonly CellExecution[]
  readonly last: CellExecution
  readonly message: string
  readonly hints: readonly string[]
  /** All calls that the case's call gates received. */
  readonly calls: readonly RuntimeCall[]
  /** The same calls as `light.dim` or `add`, without those of `take` and `echo`. */
  readonly called: readonly string[]
  /** All arguments passed to `$take`, in order. */
  readonly taken: readonly unknown[]
  retrieve(name: string): Promise<unknown>
  run(code: Code, options?: CellOptions): Promise<CellExecution>
  /** Executes one more cell, which must succeed, and returns its value. */
  value(code: Code, options?: CellOptions): Promise<unknown>
  /** Returns the name under which an object of the host was injected. */
  nameOf(key: string): string
}

export function defineCase<H extends Host = Record<never, never>>(
  title: string,
  spec: CaseSpec<H> & InLanguages,
): HandleCase {
  const { ownRuntime = false, notApplicable = {} } = spec
  return {
    title,
    ownRuntime,
    notApplicable,
    async run(runtime, number) {
      const { language } = runtime
      const trial = await createCaseOutcome(spec, runtime, number)
      const { typescript = [], python = [typescript].flat().map((code) => code.replaceAll("await ", "")) } = spec
      const cells = [{ typescript, python }[language]].flat()
      assert.ok(cells.length > 0 || spec.holds, `#${number} has no cell for ${language}.`)
      for (const [index, code] of cells.entries()) {
        const mustFail = spec.errors ?? (index === cells.length - 1 ? spec.error : undefined)
        expectCellEnd(await trial.run({ typescript: code, python: code }), mustFail, code, trial)
      }
      if (cells.length > 0) expectLastCell(spec, trial)
      await spec.holds?.(trial)
    },
  }
}

/** Returns a `defineCase` for cases that have the same host objects. */
export function casesWith<H extends Host>(
  shared: Pick<CaseSpec<H>, "host" | "inject">,
): (title: string, spec: CaseSpec<H> & InLanguages) => HandleCase {
  return (title, spec) => defineCase(title, { ...shared, ...spec })
}

async function createCaseOutcome<H extends Host>(
  spec: CaseSpec<H>,
  runtime: Runtime,
  number: number,
): Promise<CaseOutcome<H>> {
  const { language } = runtime
  const host = spec.host?.() ?? ({} as H)
  const taken: unknown[] = []
  const given = {
    take: (...values: unknown[]) => void taken.push(...values),
    echo: (value: unknown) => value,
    ...(spec.inject?.(host) ?? host),
  }
  const suffix = `_${String(number).padStart(3, "0")}`
  const keys = Object.keys(given)
  await runtime.inject(Object.fromEntries(Object.entries(given).map(([key, value]) => [key + suffix, value])))

  const insert = (code: string) =>
    code.replace(/\$(\w+)/g, (found, key: string) => (keys.includes(key) ? key + suffix : found))
  const plain = (text: string) => text.replaceAll(suffix, "")
  const calls: RuntimeCall[] = []
  const recorded =
    (gate: CallGate | undefined): CallGate =>
    (call, next) => {
      calls.push({ ...call, binding: plain(call.binding) })
      return gate ? gate(call, next) : next()
    }
  const executions: CellExecution[] = []
  const lastOf = () => executions.at(-1) ?? assert.fail("No cell ran.")
  const outcome: CaseOutcome<H> = {
    host,
    language,
    runtime,
    executions,
    calls,
    taken,
    get last() {
      return lastOf()
    },
    get message() {
      const last = lastOf()
      return last.ok ? "" : plain(last.error.message)
    },
    get hints() {
      return (lastOf().hints ?? []).map(plain)
    },
    get called() {
      return calls
        .map(({ binding, method }) => (method === undefined ? binding : `${binding}.${method}`))
        .filter((name) => name !== "take" && name !== "echo")
    },
    retrieve: (name) => runtime.retrieve(keys.includes(name) ? name + suffix : name),
    async run(code, { callGate = spec.gate, ...options } = {}) {
      const execution = await runtime.execute(insert(code[language]), {
        timeoutMs: 20_000,
        ...options,
        callGate: recorded(callGate),
      })
      executions.push(execution)
      return execution
    },
    async value(code, options) {
      const execution = await outcome.run(code, options)
      assert.ok(execution.ok, execution.ok ? "" : `${execution.error.message}\nin:\n${code[language]}`)
      return execution.value
    },
    nameOf: (key) => key + suffix,
  }
  return outcome
}

function expectCellEnd(
  execution: CellExecution,
  mustFail: RegExp | undefined,
  code: string,
  { message }: CaseOutcome,
): void {
  if (mustFail) {
    assert.ok(!execution.ok, `The cell should have failed:\n${code}`)
    assert.match(message, mustFail, code)
    return
  }
  assert.ok(execution.ok, `${message}\nin:\n${code}`)
}

function expectLastCell<H extends Host>(spec: CaseSpec<H>, { last, hints, language }: CaseOutcome<H>): void {
  const { hints: expected = last.ok ? [] : "any" } = spec
  if (expected !== "any") {
    assert.equal(hints.length, expected.length, `The hints are: ${JSON.stringify(hints)}`)
    for (const [index, hint] of expected.entries()) assert.match(hints[index] ?? "", hint)
  }
  if (!("value" in spec)) return
  const value: unknown = typeof spec.value === "function" ? spec.value(language) : spec.value
  assert.ok(last.ok)
  assert.deepEqual(last.value, value)
}

/** Asserts that a value is a function, such as the handle of a function that a cell created. */
export function callable(value: unknown): (...args: unknown[]) => unknown {
  assert.ok(typeof value === "function", `It should be a function, and is ${typeof value}.`)
  return (...args) => Reflect.apply(value, undefined, args)
}

/** Returns a member of an object or function, such as the handle of an object that a cell created. */
export function memberOf(value: unknown, name: string): unknown {
  assert.ok((typeof value === "object" && value !== null) || typeof value === "function", "It should be an object.")
  return Reflect.get(value, name)
}

/** Calls a method through the handle of an object that a cell created. */
export function callMember(value: unknown, name: string, ...args: unknown[]): unknown {
  return callable(memberOf(value, name))(...args)
}
