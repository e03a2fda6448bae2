// Checks of default values. A remote member that was not awaited is never undefined, so its default value would be
// ignored without an error. After each pattern, a check of the names with defaults throws for such members.
import type { AnyNode, Identifier } from "acorn"
import { guardVariable } from "../name-storage.ts"

/** Code that calls the guard with the names to which patterns give default values; undefined if there are none. */
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
