import type { Scope } from "./compile.ts"

/** What compiled cells call for the rarer things. */
export const cellHelpers = {
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
