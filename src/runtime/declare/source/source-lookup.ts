// Remembers where functions and classes were declared. Functions that are asked for the first time are collected and
// then located together.
import { attempt } from "../../../core/attempt.ts"
import { type FoundDeclaration, findDeclaration } from "./find-declaration.ts"
import { type FunctionLocation, locateFunctions } from "./locate-functions.ts"
import { scriptPath } from "./original-position.ts"
import { isPackageFile, packageReference } from "./package-reference.ts"

export interface Origin {
  /** The declaration in the user's own sources. */
  declaration?: FoundDeclaration | undefined
  /** Where a module of Node or of a package exports the class: `import("pkg").Name`. */
  reference(): string | undefined
}

export interface SourceLookup {
  /** Returns what is known about a function or class; undefined before it was located. */
  find(call: object): Origin | undefined
  /** Locates the functions that were asked for and not yet known. Returns false if there were none. */
  locateMissing(): boolean
}

export function createSourceLookup(): SourceLookup {
  const missing = new Set<object>()
  return {
    find(call) {
      const known = origins.get(call)
      if (!known) missing.add(call)
      return known
    },
    locateMissing() {
      if (missing.size === 0) return false
      const locations = locateFunctions([...missing])
      for (const call of missing) origins.set(call, originOf(call, locations.get(call)))
      missing.clear()
      return true
    },
  }
}

/** Finds nothing, so that every type is inferred. */
export const noSourceLookup: SourceLookup = {
  find: () => undefined,
  locateMissing: () => false,
}

const origins = new WeakMap<object, Origin>()

function originOf(call: object, location: FunctionLocation | undefined): Origin {
  const path = location && scriptPath(location.script)
  const isOwn = location && path !== undefined && !isPackageFile(path)
  // The reference is searched only for classes that are shown.
  let reference: { text: string | undefined } | undefined
  return {
    declaration: isOwn ? attempt(() => findDeclaration(call, location)) : undefined,
    reference() {
      if (isOwn) return undefined
      reference ??= { text: attempt(() => packageReference(call, location)) }
      return reference.text
    },
  }
}
