import { ConfigError } from "../core/errors.ts"
import type { JsonSchema } from "../core/json.ts"
import type { StandardSchema } from "./runtime.ts"

/** Things to put in a runtime, by name. A bare function is a function, a class a type, an agent an agent, anything else
 *  a variable; wrap one with `fn`, `type` or `variable` to say more. */
export type Bindings = Record<string, unknown>

export type Binding = VariableBinding | FunctionBinding | TypeBinding | AgentBinding

export interface VariableBinding<T = unknown> {
  readonly [wrapped]: true
  readonly kind: "variable"
  readonly value: T
  readonly description?: string | undefined
  /** TypeScript text of the value's type, shown instead of what inspection finds. */
  readonly type?: string | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: any function at all may be bound; its own type is kept in F.
export type AnyFunction = (...args: any[]) => unknown

export interface FunctionBinding<F extends AnyFunction = AnyFunction> {
  readonly [wrapped]: true
  readonly kind: "function"
  readonly call: F
  readonly options: FunctionOptions
}

export interface TypeBinding<C extends object = object> {
  readonly [wrapped]: true
  readonly kind: "type"
  readonly type: C
  readonly options: TypeOptions
}

export interface AgentBinding {
  readonly [wrapped]: true
  readonly kind: "agent"
  readonly agent: object
}

export interface FunctionOptions {
  description?: string | undefined
  /** TypeScript text such as `(name: string) => Task`. */
  signature?: string | undefined
  /** A schema of the single argument, or of all of them as a tuple; calls are validated against it. */
  input?: SchemaLike | undefined
  /** A schema of the result, for the declaration. */
  output?: SchemaLike | undefined
  /** The author's own source text (or that of the module), to take types and JSDoc from. */
  source?: string | undefined
  /** Ask before each call, even from code. */
  approve?: boolean | undefined
  /** Returns its value and not a Promise. Not gated: no approval, hook or journal. `jsRuntime` only. */
  sync?: boolean | undefined
}

export interface TypeOptions {
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

export interface VariableOptions {
  description?: string | undefined
  type?: string | undefined
}

const wrapped: unique symbol = Symbol.for("karst.binding")

export function variable<T>(value: T, about: string | VariableOptions = {}): VariableBinding<T> {
  const { description, type } = typeof about === "string" ? { description: about } : about
  return { [wrapped]: true, kind: "variable", value, description, type }
}

export function fn<F extends AnyFunction>(call: F, options: FunctionOptions = {}): FunctionBinding<F> {
  if (typeof call !== "function") throw new ConfigError(`fn() takes a function, not ${typeof call}.`)
  if (options.sync && options.approve) {
    throw new ConfigError("fn(): a sync function cannot ask for approval. Leave out `sync` or `approve`.")
  }
  return { [wrapped]: true, kind: "function", call, options }
}

export function type<C extends object>(cls: C, options: TypeOptions = {}): TypeBinding<C> {
  return { [wrapped]: true, kind: "type", type: cls, options }
}

/** What a value in a bindings literal stands for. */
export function toBinding(value: unknown): Binding {
  if (isBinding(value)) return value
  if (typeof value === "function") return isClass(value) ? type(value) : fn(value as AnyFunction)
  if (isAgent(value)) return { [wrapped]: true, kind: "agent", agent: value }
  return variable(value)
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
  return typeof value === "object" && value !== null && wrapped in value
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
