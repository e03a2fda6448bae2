// Bindings: the host values, functions, types and agents that are injected into a runtime by name, and the wrappers
// `variable`, `fn` and `classType` that describe them.
import { attempt } from "../core/attempt.ts"
import * as check from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { JsonSchema } from "../core/json.ts"
import { callOptionChecks, guardProblem } from "./bindings/method-guards.ts"
import { isPyReference } from "./python/py-reference.ts"
import type { ApprovalCondition, StandardSchema } from "./runtime.ts"
import { mustBeSchema } from "./schema/check-json-schema.ts"

/** Host values to inject into a runtime, by name. A bare function is a function, a class a type, an agent an agent,
 *  anything else a variable. Wrap a value with `fn`, `classType` or `variable` to set options. */
export type Bindings = Record<string, unknown>

export type Binding = VariableBinding | FunctionBinding | TypeBinding | AgentBinding

export interface VariableBinding<T = unknown> extends Readonly<VariableOptions> {
  readonly [bindingMark]: true
  readonly kind: "variable"
  readonly value: T
  /** A cell declared it with `const`. */
  readonly constant?: boolean | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: any function may be bound; F preserves its type.
export type AnyFunction = (...args: any[]) => unknown

export interface FunctionBinding<F extends AnyFunction = AnyFunction> {
  readonly [bindingMark]: true
  readonly kind: "function"
  readonly call: F
  readonly options: FunctionOptions
}

export interface TypeBinding<C extends object = object> {
  readonly [bindingMark]: true
  readonly kind: "type"
  readonly type: C
  readonly options: ClassTypeOptions
}

export interface AgentBinding {
  readonly [bindingMark]: true
  readonly kind: "agent"
  readonly agent: object
}

/** Limits and rules that the call gate applies to the calls of a function or method in an agent's run. */
export interface CallOptions {
  /** Whether to request approval before each call, also when code makes it, or before the calls that a function picks.
   *  Default false. */
  approve?: boolean | ApprovalCondition | undefined
  /** How often one run may make the call; one more is an error that the model sees. Default: no limit. */
  maxCalls?: number | undefined
  /** How long a call may take, without the time spent waiting for approval; then it is a `TimeoutError`. Default: no
   *  limit. */
  timeoutMs?: number | undefined
  /** Whether making the call twice has the same effect as making it once. A durable run repeats such a call after a
   *  crash, with the same `currentCall().idempotencyKey`. Default false. */
  idempotent?: boolean | undefined
  /** What a durable run does about a call if it is unknown whether it took effect. Default: the engine's policy. */
  unknown?: UnknownPolicy | undefined
  /** False: a durable run does not record the call and makes it again whenever its cell runs again. For calls that have
   *  no effect outside, or that record their effects themselves. Default true. */
  journal?: boolean | undefined
}

/** `ask`: request approval to make the call again. `fail`: the cell gets an error. `retry`: make the call again. */
export type UnknownPolicy = "ask" | "fail" | "retry"

export interface FunctionOptions extends CallOptions {
  /** Shown to the model. */
  description?: string | undefined
  /** TypeScript text such as `(name: string) => Task`. */
  signature?: string | undefined
  /** A schema of the single argument, or a tuple schema of all arguments; calls are validated against it. */
  input?: SchemaLike | undefined
  /** A schema of the result, for the declaration. */
  output?: SchemaLike | undefined
  /** Source text of the function or its module; types and JSDoc are read from it. */
  source?: string | undefined
  /** Returns its value and not a Promise. Such calls skip the call gate: no approval, limit, hook or journal.
   *  `jsRuntime` only. */
  sync?: boolean | undefined
}

export interface ClassTypeOptions {
  /** Shown to the model. */
  description?: string | undefined
  /** Show the members to the model. Default true. */
  schema?: boolean | undefined
  /** Show the documentation to the model. Default true. */
  doc?: boolean | undefined
  /** Source text of the class; types and JSDoc are read from it. */
  source?: string | undefined
}

/** A Standard Schema that can be converted to JSON Schema (zod 4, arktype …), or plain JSON Schema. */
export type SchemaLike = StandardSchema | JsonSchema

/** Guarded methods by name. */
export type MethodGuard<T = Record<string, unknown>> = { readonly [K in keyof T & string]?: CallOptions | undefined }

export interface VariableOptions<T = Record<string, unknown>> {
  /** Shown to the model. */
  description?: string | undefined
  /** TypeScript text such as `Map<string, Task>`. Default: from the value. */
  type?: string | undefined
  /** Methods whose calls pass the call gate, each with its options: `{ wipe: { approve: true } }`. In cells they return
   *  Promises; the rest of the object is unchanged. */
  guard?: MethodGuard<T> | undefined
  /** Lets cells of `processRuntime` and `pythonRuntime` add members to the object; existing fields can always be
   *  assigned. Default false. */
  extend?: boolean | undefined
  /** The object's state lives elsewhere, such as that of a database client. When a run or session continues with a new
   *  object, nothing is lost and nothing is reported. Default false. */
  external?: boolean | undefined
  /** How many of the first rows of a table or items of an array the model sees with the declaration. At most 20.
   *  Default 0: the model sees types and null counts, and no values. */
  sample?: number | undefined
}

const functionOptionChecks: check.OptionChecks<FunctionOptions> = {
  ...callOptionChecks,
  description: check.mustBeText,
  signature: check.mustBeText,
  input: mustBeSchema,
  output: mustBeSchema,
  source: check.mustBeText,
  sync: check.mustBeBoolean,
}

const typeOptionChecks: check.OptionChecks<ClassTypeOptions> = {
  description: check.mustBeText,
  schema: check.mustBeBoolean,
  doc: check.mustBeBoolean,
  source: check.mustBeText,
}

const variableOptionChecks: check.OptionChecks<VariableOptions> = {
  description: check.mustBeText,
  type: check.mustBeText,
  // Checked together with the value by `guardProblem`.
  guard: check.mustBeObject,
  extend: check.mustBeBoolean,
  external: check.mustBeBoolean,
  sample: check.mustBeIntegerBetween(0, 20),
}

const bindingMark: unique symbol = Symbol.for("karst.binding")

/** An object such as a tool returns its own binding from the method under this symbol. */
export const asBinding: unique symbol = Symbol.for("karst.as-binding")

/** Makes a variable of cells, with a description and guarded methods. */
export function variable<T>(value: T, about: string | VariableOptions<T> = {}): VariableBinding<T> {
  if (typeof about !== "string") check.checkOptions("variable()", about, variableOptionChecks)
  const { description, type, guard, extend, external, sample }: VariableOptions<T> =
    typeof about === "string" ? { description: about } : about
  const problem = guard && guardProblem(value, guard)
  if (problem !== undefined) throw new ConfigError(`variable(): ${problem}`)
  if (sample && !Array.isArray(value) && !isPyReference(value)) {
    throw new ConfigError(
      "variable(): `sample` shows the first rows of an array, of table() or of py(), and the value is none of these. " +
        "Leave it out.",
    )
  }
  return {
    [bindingMark]: true,
    kind: "variable",
    value,
    description,
    type,
    ...(guard && { guard }),
    ...(extend && { extend }),
    ...(external && { external }),
    ...(sample && { sample }),
  }
}

/** Makes a function that cells call, with a description, limits and approval. */
export function fn<F extends AnyFunction>(call: F, options: FunctionOptions = {}): FunctionBinding<F> {
  if (typeof call !== "function") throw new ConfigError(`fn() takes a function, not ${typeof call}.`)
  if (typeof options === "string") {
    const given = JSON.stringify(options)
    throw new ConfigError(`fn(): the options are not an object: they are ${given}. Write { description: ${given} }.`)
  }
  check.checkOptions("fn()", options, functionOptionChecks)
  const held = (["approve", "maxCalls", "timeoutMs"] as const).find(
    (option) => options[option] !== undefined && options[option] !== false,
  )
  if (options.sync && held) {
    throw new ConfigError(
      `fn(): the calls of a sync function pass no gate, so \`${held}\` cannot hold. Leave out \`sync\` or \`${held}\`.`,
    )
  }
  return { [bindingMark]: true, kind: "function", call, options }
}

/** Makes a class that cells can use, with a description. */
export function classType<C extends object>(cls: C, options: ClassTypeOptions = {}): TypeBinding<C> {
  check.checkOptions("classType()", options, typeOptionChecks)
  return { [bindingMark]: true, kind: "type", type: cls, options }
}

/** Converts a value of a bindings literal to a binding. */
export function toBinding(value: unknown): Binding {
  if (isBinding(value)) return value
  if (definesBinding(value)) return value[asBinding]()
  if (typeof value === "function") return isClass(value) ? classType(value) : fn(value as AnyFunction)
  if (isAgent(value)) return { [bindingMark]: true, kind: "agent", agent: value }
  return variable(value)
}

/** Converts a value that a cell made. A getter or Proxy of the cell may throw when it is read: the value is then a
 *  variable. */
export function toCellMadeBinding(value: unknown): Binding {
  return attempt(() => toBinding(value)) ?? variable(value)
}

function definesBinding(value: unknown): value is { [asBinding](): Binding } {
  return typeof value === "object" && value !== null && asBinding in value
}

/** A binding with another value. The options of the old binding stay, unless the new value is wrapped with its own. */
export function rebind(old: Binding, given: unknown): Binding {
  const next = toBinding(given)
  if (isBinding(given) && next.kind === old.kind) return next
  if (old.kind === "variable") return { ...old, value: boundValue(next) }
  if (old.kind === "function" && next.kind === "function") return { ...old, call: next.call }
  if (old.kind === "type" && next.kind === "type") return { ...old, type: next.type }
  return next
}

export function rebindAll(bindings: ReadonlyMap<string, Binding>, values: Record<string, unknown>): Bindings {
  return Object.fromEntries(
    [...bindings].map(([name, binding]) => [name, name in values ? rebind(binding, values[name]) : binding]),
  )
}

export function boundValue(binding: Binding): unknown {
  switch (binding.kind) {
    case "variable":
      return binding.value
    case "function":
      return binding.call
    case "type":
      return binding.type
    case "agent":
      return binding.agent
  }
}

export function isBinding(value: unknown): value is Binding {
  return typeof value === "object" && value !== null && bindingMark in value
}

/** Never throws: a Proxy whose traps throw is no class. */
export function isClass(value: unknown): boolean {
  return typeof value === "function" && attempt(() => hasClassPrototype(value)) === true
}

function hasClassPrototype(value: object): boolean {
  // A class's `prototype` is not writable; a plain function's is. Built-in constructors count as classes too.
  const prototype = Object.getOwnPropertyDescriptor(value, "prototype")
  return prototype !== undefined && !prototype.writable && typeof prototype.value === "object" && !isGenerator(value)
}

export function isAgent(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false
  const agent = value as Record<string, unknown>
  return (
    typeof agent.name === "string" &&
    ["run", "session", "describe", "with"].every((key) => typeof agent[key] === "function")
  )
}

function isGenerator(value: object): boolean {
  return Object.prototype.toString.call(value).includes("Generator")
}
