import type { FunctionBinding } from "../bindings.ts"
import { isClass } from "../bindings.ts"
import { agentCallOptions } from "../cell-agent.ts"
import { functionSignature } from "../declare/function-head.ts"
import { attempt, parseSignature } from "../declare/signatures.ts"
import { passGate } from "../gated-call.ts"
import type { Guards } from "../guard.ts"
import type { CallGate } from "../runtime.ts"
import { check, isTuple, toJsonSchema } from "../schema.ts"
import { betweenKernels } from "./frames.ts"
import { type HostEntry, holdsFrames, methodOf } from "./host-objects.ts"

export interface CallContext {
  gate: CallGate | undefined
  signal: AbortSignal
  guards: Guards
}

export interface RequestedCall {
  entry: HostEntry
  method: string | undefined
  args: readonly unknown[]
  /** What Python passed by keyword. */
  named: Record<string, unknown>
}

/** Makes a call that Python asks for, through the gate. */
export async function performCall(requested: RequestedCall, { gate, signal, guards }: CallContext): Promise<unknown> {
  const { entry, method } = requested
  const { binding, target, value } = entry
  const isBinding = target !== undefined && method === undefined
  const guarded = isBinding ? undefined : guards.find(value, method, value)
  const call = isBinding ? boundCall(target, binding) : plainCall(entry, method)
  const args = await call.accept(positional(requested, call))
  signal.throwIfAborted()
  const asked = {
    binding,
    method,
    args,
    options: target?.options ?? agentCallOptions(value),
    ...guarded,
    signal,
    accept: call.accept,
    make(made: readonly unknown[]) {
      signal.throwIfAborted()
      return call.make(made)
    },
  }
  return passGate(asked, gate)
}

interface Callable {
  name: string
  parameters(): string[]
  /** Whether the keywords together are the only argument. */
  takesObject: boolean
  accept(args: readonly unknown[]): Promise<readonly unknown[]> | readonly unknown[]
  make(args: readonly unknown[]): unknown
}

function boundCall(target: FunctionBinding, name: string): Callable {
  const { input, signature } = target.options
  const tuple = input !== undefined && isTuple(input)
  return {
    name,
    takesObject: input !== undefined && !tuple && attempt(() => toJsonSchema(input).type) === "object",
    parameters: () => {
      const told = signature === undefined ? undefined : attempt(() => parseSignature(signature, name))
      return (told ?? functionSignature(target.call)).parameters.map((parameter) => parameter.name)
    },
    async accept(args) {
      if (input === undefined) return args
      const validation = await check(input, tuple ? args : args[0])
      if (!validation.ok) throw new TypeError(`Invalid input of ${name}: ${validation.message}`)
      return tuple && Array.isArray(validation.value) ? validation.value : [validation.value, ...args.slice(1)]
    },
    make: (args) => Reflect.apply(target.call, undefined, args),
  }
}

function plainCall({ value, binding }: HostEntry, method: string | undefined): Callable {
  const found = method === undefined ? value : methodOf(value, method)
  if (typeof found !== "function") throw new TypeError(`'${binding}' object is not callable`)
  return {
    name: method ?? binding,
    takesObject: false,
    parameters: () => functionSignature(found).parameters.map((parameter) => parameter.name),
    accept: (args) => args,
    make: (args) => {
      if (method === undefined && isClass(found)) return Reflect.construct(found, args)
      return betweenKernels.run(holdsFrames(value), () => Reflect.apply(found, value, args))
    },
  }
}

/** Keywords find their places by the names of the parameters. */
function positional({ args, named }: RequestedCall, { name, parameters, takesObject }: Callable): readonly unknown[] {
  const words = Object.keys(named)
  if (words.length === 0) return args
  if (takesObject && args.length === 0) return [named]
  const known = parameters()
  const result = [...args]
  for (const word of words) {
    const place = known.indexOf(word)
    if (place < 0) {
      throw new TypeError(
        `${name}() got an unexpected keyword argument '${word}'; it takes ${known.join(", ") || "none"}`,
      )
    }
    if (place < args.length) throw new TypeError(`${name}() got multiple values for argument '${word}'`)
    result[place] = named[word]
  }
  return result
}
