import type { AnyNode, Identifier } from "acorn"
import { guardVariable } from "../name-storage.ts"

// A default value replaces undefined. A member of a remote object that was not awaited is never undefined, so its default
// would be ignored without an error. After each pattern, a check of the names with default values throws for such members.

/** A call of the guard that checks the names to which patterns give default values; undefined where there are none. */
export function defaultsCheckCode(
  patterns: readonly AnyNode[],
  read: (name: Identifier) => string = ({ name }) => name,
): string | undefined {
  const names = patterns.flatMap((pattern) => namesWithDefaults(pattern))
  return names.length > 0 ? `${guardVariable}.defaults(${names.map(read).join()})` : undefined
}

function namesWithDefaults(pattern: AnyNode, hasDefault = false): Identifier[] {
  switch (pattern.type) {
    case "Identifier":
      return hasDefault ? [pattern] : []
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        property.type === "RestElement" ? [] : namesWithDefaults(property.value),
      )
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element ? namesWithDefaults(element) : []))
    case "AssignmentPattern":
      return namesWithDefaults(pattern.left, true)
    case "TSParameterProperty":
      return namesWithDefaults(pattern.parameter)
    default:
      return []
  }
}
