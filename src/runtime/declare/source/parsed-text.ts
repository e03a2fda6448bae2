// Parses the texts of functions and classes that were written for a block of declarations.
import { parseCell } from "../../compiler/parse-cell.ts"
import { type ClassSource, readClass } from "../class-source.ts"
import { signatureOf } from "../parse-signature.ts"
import type { Signature } from "../type-tree.ts"

/** Reads the members of a class from text that `classText` wrote. */
export function readClassText(text: string): ClassSource {
  return parsedClasses.get(text, () => {
    const [statement] = parseCell(text).program.body
    if (statement?.type !== "ClassDeclaration") throw new SyntaxError("This is no class.")
    return readClass(statement, text)
  })
}

/** Reads a signature from text that `functionText` wrote. */
export function readFunctionText(text: string): Signature {
  return parsedFunctions.get(text, () => {
    const [statement] = parseCell(text).program.body
    if (statement?.type !== "FunctionDeclaration") throw new SyntaxError("This is no function.")
    return signatureOf(statement, text)
  })
}

// Each description writes the same texts again.
const parsedClasses = createParsedTexts<ClassSource>()
const parsedFunctions = createParsedTexts<Signature>()

function createParsedTexts<T>() {
  const known = new Map<string, T>()
  return {
    get(text: string, parse: () => T): T {
      const found = known.get(text) ?? parse()
      // The most recent texts come last.
      known.delete(text)
      known.set(text, found)
      const [oldest] = known.keys()
      if (known.size > maxParsed && oldest !== undefined) known.delete(oldest)
      return found
    },
  }
}

const maxParsed = 200
