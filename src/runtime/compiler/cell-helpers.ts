import type { Scope } from "./compile-cell.ts"

/** A message of the engine as it would be for the cell's own text. */
export function removeGeneratedNames(text: string): string {
  if (!text.includes("$$")) return text
  return text
    .replace(/\(0 , (\$\$\w+\.[\w$]+)\)/g, "$1")
    .replace("$$guard.resume is not a function or its return value", "(intermediate value)")
    .replace(/\$\$guard\.\w+\(\.\.\.\)/g, "(intermediate value)")
    .replace(/\$\$(?:scope|ambient|cell_\d+)\./g, "")
}

/** What compiled cells call for the rarer things. */
export const cellHelpers = {
  /** What was thrown. The engine's messages quote the code it ran; an error's are made to quote the cell's own. */
  caught<T>(thrown: T): T {
    try {
      if (!(thrown instanceof Error) || !thrown.message.includes("$$")) return thrown
      const { message, stack } = thrown
      thrown.message = removeGeneratedNames(message)
      if (typeof stack === "string") thrown.stack = removeGeneratedNames(stack)
    } catch {
      // A frozen error keeps its message, and so does one that lets nobody read it.
    }
    return thrown
  },

  /** The value of a name that may not exist. */
  peek(scope: Scope, name: string): unknown {
    return Object.hasOwn(scope, name) ? scope[name] : undefined
  },

  /** An export of a loaded module, which must have it. */
  pick(module: Record<string, unknown>, name: string, specifier: string): unknown {
    if (name in module) return module[name]
    throw new SyntaxError(`The requested module '${specifier}' does not provide an export named '${name}'`)
  },

  /** What `require` would give for a loaded module. */
  required(module: Record<string, unknown>): unknown {
    return module["module.exports"] ?? module.default ?? module
  },

  /** Gives an enum a member, and the way back from a number to its name. */
  member(target: Record<string, unknown>, name: string, value: string | number): void {
    target[name] = value
    if (typeof value !== "string") target[value] = name
  },
}
