import {
  anything,
  checkOptions,
  mustBeBoolean,
  mustBeObject,
  mustBeText,
  type OptionChecks,
} from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { JsonSchema } from "../core/json.ts"
import { callOptionChecks, guardProblem } from "./bindings/method-guards.ts"
import type { ApprovalCondition, StandardSchema } from "./runtime.ts"

/** Things to put in a runtime, by name. A bare function is a function, a class a type, an agent an agent, anything else
 *  a variable; wrap one with `fn`, `classType` or `variable` to say more. */
export type Bindings = Record<string, unknown>

export type Binding = VariableBinding | FunctionBinding | TypeBinding | AgentBinding

export interface VariableBinding<T = unknown> {
  readonly [bindingMark]: true
  readonly kind: "variable"
  readonly value: T
  readonly description?: string | undefined
  /** TypeScript text of the value's type, shown instead of what inspection finds. */
  readonly type?: string | undefined
  /** Methods whose calls pass the gate, and what holds for each. */
  readonly guard?: MethodGuard | undefined
  /** Whether cells in another process may add members to the object. */
  readonly extend?: boolean | undefined
  /** Whether the state of the object lives elsewhere, so that nothing is lost when it is created anew. */
  readonly external?: boolean | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: any function at all may be bound; its own type is kept in F.
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

/** What the gate holds the calls of a function or method to, in an agent's run. */
export interface CallOptions {
  /** Ask before each call, even from code, or before those that a function of yours picks. Default false. */
  approve?: boolean | ApprovalCondition | undefined
  /** How often one run may make the call; one more is an error the model sees. Default: no limit. */
  maxCalls?: number | undefined
  /** How long a call may take, waiting for a person left out; then it is a `TimeoutError`. Default: no limit. */
  timeoutMs?: number | undefined
  /** Whether making it twice is making it once; a durable run makes such a call again after a crash, with the same
   *  `currentCall().idempotencyKey`. Default false. */
  idempotent?: boolean | undefined
  /** What a durable run does about a call of which nobody knows whether it took effect. Default: as the engine says. */
  unknown?: UnknownPolicy | undefined
  /** False: a durable run does not record it and makes it again whenever its cell is run again; for what has no effect
   *  outside, or records what it does by itself. Default true. */
  journal?: boolean | undefined
}

/** Somebody is asked whether to make the call again, the cell gets an error, or it is made again. */
export type UnknownPolicy = "ask" | "fail" | "retry"

export interface FunctionOptions extends CallOptions {
  description?: string | undefined
  /** TypeScript text such as `(name: string) => Task`. */
  signature?: string | undefined
  /** A schema of the single argument, or of all of them as a tuple; calls are validated against it. */
  input?: SchemaLike | undefined
  /** A schema of the result, for the declaration. */
  output?: SchemaLike | undefined
  /** The author's own source text (or that of the module), to take types and JSDoc from. */
  source?: string | undefined
  /** Returns its value and not a Promise. Not gated: no approval, limit, hook or journal. `jsRuntime` only. */
  sync?: boolean | undefined
}

export interface ClassTypeOptions {
  description?: string | undefined
  /** Show the members to the model. Default true. */
  schema?: boolean | undefined
  /** Show the documentation to the model. Default true. */
  doc?: boolean | undefined
  /** The author's own source text, to take types and JSDoc from. */
  source?: string | undefined
}

/** A Standard Schema that also gives JSON Schema (zod 4, arktype …), or plain JSON Schema. */
export type SchemaLike = StandardSchema | JsonSchema

/** Methods by name. */
export type MethodGuard<T = Record<string, unknown>> = { readonly [K in keyof T & string]?: CallOptions | undefined }

export interface VariableOptions<T = Record<string, unknown>> {
  description?: string | undefined
  type?: string | undefined
  /** Methods whose calls pass the gate, with what holds for each: `{ wipe: { approve: true } }`. They give Promises in
   *  cells; everything else of the object stays as it is. */
  guard?: MethodGuard<T> | undefined
  /** Lets cells of `processRuntime` and `pythonRuntime` add members to the object; existing fields can always be
   *  assigned. Default false. */
  extend?: boolean | undefined
  /** The state of the object lives elsewhere, such as that of a database client. When a run or session goes on with a new
   *  object, nothing is lost, and nothing is reported. Default false. */
  external?: boolean | undefined
}

const functionOptionChecks: OptionChecks<FunctionOptions> = {
  ...callOptionChecks,
  description: mustBeText,
  signature: mustBeText,
  // Schemas are checked where they are used.
  input: anything,
  output: anything,
  source: mustBeText,
  sync: mustBeBoolean,
}

const typeOptionChecks: OptionChecks<ClassTypeOptions> = {
  description: mustBeText,
  schema: mustBeBoolean,
  doc: mustBeBoolean,
  source: mustBeText,
}

const variableOptionChecks: OptionChecks<VariableOptions> = {
  description: mustBeText,
  type: mustBeText,
  // Checked together with the value.
  guard: mustBeObject,
  extend: mustBeBoolean,
  external: mustBeBoolean,
}

const bindingMark: unique symbol = Symbol.for("karst.binding")

/** What has an idea of its own of what it is in a runtime, such as a tool, gives that binding under this symbol. */
export const asBinding: unique symbol = Symbol.for("karst.as-binding")

export function variable<T>(value: T, about: string | VariableOptions<T> = {}): VariableBinding<T> {
  if (typeof about !== "string") checkOptions("variable()", about, variableOptionChecks)
  const { description, type, guard, extend, external }: VariableOptions<T> =
    typeof about === "string" ? { description: about } : about
  const problem = guard && guardProblem(value, guard)
  if (problem !== undefined) throw new ConfigError(`variable(): ${problem}`)
  return {
    [bindingMark]: true,
    kind: "variable",
    value,
    description,
    type,
    ...(guard && { guard }),
    ...(extend && { extend }),
    ...(external && { external }),
  }
}

export function fn<F extends AnyFunction>(call: F, options: FunctionOptions = {}): FunctionBinding<F> {
  if (typeof call !== "function") throw new ConfigError(`fn() takes a function, not ${typeof call}.`)
  if (typeof options === "string") {
    const given = JSON.stringify(options)
    throw new ConfigError(`fn(): the options are not an object: they are ${given}. Write { description: ${given} }.`)
  }
  checkOptions("fn()", options, functionOptionChecks)
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

export function classType<C extends object>(cls: C, options: ClassTypeOptions = {}): TypeBinding<C> {
  checkOptions("classType()", options, typeOptionChecks)
  return { [bindingMark]: true, kind: "type", type: cls, options }
}

/** What a value in a bindings literal stands for. */
export function toBinding(value: unknown): Binding {
  if (isBinding(value)) return value
  if (definesBinding(value)) return value[asBinding]()
  if (typeof value === "function") return isClass(value) ? classType(value) : fn(value as AnyFunction)
  if (isAgent(value)) return { [bindingMark]: true, kind: "agent", agent: value }
  return variable(value)
}

function definesBinding(value: unknown): value is { [asBinding](): Binding } {
  return typeof value === "object" && value !== null && asBinding in value
}

/** A binding with another value. What was said about the old one holds, unless the new one is wrapped to say more. */
export function rebind(old: Binding, given: unknown): Binding {
  const next = toBinding(given)
  if (isBinding(given) && next.kind === old.kind) return next
  if (old.kind === "variable") return { ...old, value: boundValue(next) }
  if (old.kind === "function" && next.kind === "function") return { ...old, call: next.call }
  if (old.kind === "type" && next.kind === "type") return { ...old, type: next.type }
  return next
}

/** The bindings, with other values for some names. */
export function rebindAll(bindings: ReadonlyMap<string, Binding>, values: Record<string, unknown>): Bindings {
  return Object.fromEntries(
    [...bindings].map(([name, binding]) => [name, name in values ? rebind(binding, values[name]) : binding]),
  )
}

/** What a binding wraps. */
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

export function isClass(value: unknown): boolean {
  if (typeof value !== "function") return false
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
