// The diagnostics of TypeScript that the gate judges, by their codes.

export const codes = {
  /** "Cannot find name", with several kinds of advice; the last is about `{ name }` in an object literal. */
  unknownName: new Set([2304, 2552, 2580, 2581, 2582, 2583, 2584, 2591, 2592, 2593, 2662, 2663, 2867, 2868, 18004]),
  /** Those that name another one that may be meant. */
  nameButAnother: new Set([2552, 2662, 2663]),
  noMember: 2339,
  noMemberButAnother: 2551,
  arguments: 2554,
  atLeastArguments: 2555,
  unknownOption: 2353,
  unknownOptionButAnother: 2561,
  argumentType: 2345,
  noOverload: 2769,
  notCallable: 2349,
  typeAsValue: 2693,
  promiseAsValue: 2801,
}

/** Arithmetic, comparison, iteration. */
export const operatorCodes = new Set([2362, 2363, 2365, 2367, 2488])

/** A member that the type needs is missing. */
export const missingMemberCodes = new Set([2739, 2740, 2741])

/** Mismatches worth telling. The rest is style, or about types alone. */
export const hintCodes = new Set([2322, 2351, 2362, 2363, 2365, 2488, 2739, 2740, 2741, 2769, 18046])

/** Something that is not what the type says was assigned. */
export const assignmentCodes = new Set([2322, 2739, 2740, 2741])
/** Or it was handed to a function. */
export const argumentCodes = new Set([2345, 2353, 2561, 2769])
