// Helpers that compiled cells call at run time. Generated code uses their names.
import type { Scope } from "./compile-cell.ts"

/** Rewrites an engine message so that it quotes the cell's source instead of generated code. */
function removeGeneratedNames(text: string): string {
  if (!text.includes("$$")) return text
  return text
    .replace(/\(0 , (\$\$\w+\.[\w$]+)\)/g, "$1")
    .replace("$$guard.resume is not a function or its return value", "(intermediate value)")
    .replace(/\$\$guard\.\w+\(\.\.\.\)/g, "(intermediate value)")
    .replace(/\$\$(?:scope|ambient|cell_\d+)\./g, "")
}

export const cellHelpers = {
  /** Returns a thrown value. If it is an error whose message quotes generated code, its message and stack are
   *  rewritten. */
  caught<T>(thrown: T): T {
    try {
      if (!(thrown instanceof Error) || !thrown.message.includes("$$")) return thrown
      const { message, stack } = thrown
      thrown.message = removeGeneratedNames(message)
      if (typeof stack === "string") thrown.stack = removeGeneratedNames(stack)
    } catch {
      // A frozen error, or one whose message cannot be read, stays unchanged.
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

  /** The value that `require` would return for a loaded module. */
  required(module: Record<string, unknown>): unknown {
    return module["module.exports"] ?? module.default ?? module
  },

  /** Adds an enum member, and for a number the reverse mapping to its name. */
  member(target: Record<string, unknown>, name: string, value: string | number): void {
    target[name] = value
    if (typeof value !== "string") target[value] = name
  },
}
