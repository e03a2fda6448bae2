// The codes of the TypeScript diagnostics that the type gate judges.

export const codes = {
  /** "Cannot find name" and its variants; the last one is for `{ name }` in an object literal. */
  unknownName: new Set([2304, 2552, 2580, 2581, 2582, 2583, 2584, 2591, 2592, 2593, 2662, 2663, 2867, 2868, 18004]),
  /** The variants that suggest another name. */
  unknownNameWithSuggestion: new Set([2552, 2662, 2663]),
  unknownMember: 2339,
  unknownMemberWithSuggestion: 2551,
  argumentCount: 2554,
  minimumArgumentCount: 2555,
  unknownOption: 2353,
  unknownOptionWithSuggestion: 2561,
  argumentType: 2345,
  noOverload: 2769,
  notCallable: 2349,
  typeAsValue: 2693,
  promiseAsValue: 2801,
}

/** Arithmetic, comparison, iteration. */
export const operatorCodes = new Set([2362, 2363, 2365, 2367, 2488])

/** A required member is missing. */
export const missingMemberCodes = new Set([2739, 2740, 2741])

/** Mismatches that become hints. Others concern only style or types. */
export const hintCodes = new Set([2322, 2351, 2362, 2363, 2365, 2488, 2739, 2740, 2741, 2769, 18046])

/** The assigned value does not match the type. */
export const assignmentCodes = new Set([2322, 2739, 2740, 2741])
/** The argument of a call does not match the type. */
export const argumentCodes = new Set([2345, 2353, 2561, 2769])
