// Checks the names of bindings against Python's syntax and IPython's own names.
import { listNames } from "../bindings/binding-names.ts"
import { finishName, finishNameProblem } from "../finish-text.ts"

/** Returns the reason why a name cannot be bound in Python; undefined if it can. */
export function pythonNameProblem(name: string): string | undefined {
  if (!identifier.test(name)) return "is not an identifier"
  if (keywords.has(name)) return "is a keyword of Python"
  if (name === finishName) return finishNameProblem
  if (name.startsWith("__") || ipythonNames.test(name)) return "is a name that the shell keeps for itself"
  return undefined
}

export function unknownNameMessage(missing: string, names: readonly string[]): string {
  return `There is no "${missing}" in the runtime. There is ${listNames(names)}.`
}

const identifier = /^[\p{XID_Start}_]\p{XID_Continue}*$/u

const ipythonNames = /^(?:In|Out|get_ipython|_+|_i+|_\d+|_i\d+|_dh|_oh|_ih)$/

const keywords = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if " +
    "import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
)
