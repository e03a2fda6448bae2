// Gives the types that the user's files mention a name in a block of declarations, and declares them there.
import type { DeclarationBlock } from "../declaration-block.ts"
import { childNode } from "../parse-signature.ts"
import { type FollowedFiles, type FoundType, findImportedType, findType } from "./find-type.ts"
import type { TypeNames, TypeScope } from "./resolve-types.ts"
import type { SourceLookup } from "./source-lookup.ts"
import type { SourceModule } from "./source-module.ts"
import { isTypeDeclaration, typeDeclarationText } from "./type-declaration-text.ts"

/** At most this many types are declared for one block, and no more after this many characters. */
const maxTypes = 40
const maxText = 6_000

export function createTypeNames(lookup: SourceLookup, block: DeclarationBlock) {
  const shown = new Map<string, string | undefined>()
  let length = 0
  const followedFiles = new Map<string, FollowedFiles>()

  /** Returns the names for the types of one module. The number of files read for them is limited. */
  function within(root: SourceModule): TypeNames {
    const followed = followedFiles.get(root.path) ?? new Set<string>()
    followedFiles.set(root.path, followed)
    const names: TypeNames = {
      nameOf: (path, module) => show(findType(path, module, followed), names),
      importedName: (specifier, path, module) => show(findImportedType(specifier, path, module, followed), names),
      aliasedType(type, scope) {
        const name = type.type === "TSTypeReference" ? childNode(type, "typeName") : undefined
        if (name?.type !== "Identifier") return undefined
        const found = findType([String(Reflect.get(name, "name"))], scope.module, followed)
        const [declared] = found?.kind === "own" ? (found.module.declared.get(found.name) ?? []) : []
        const isAlias = declared?.node.type === "TSTypeAliasDeclaration" && !childNode(declared.node, "typeParameters")
        const aliased = isAlias ? childNode(declared.node, "typeAnnotation") : undefined
        return aliased && found?.kind === "own"
          ? { type: aliased, scope: { ...scope, module: found.module } }
          : undefined
      },
    }
    return names
  }

  function show(found: FoundType | undefined, names: TypeNames): string | undefined {
    if (found?.kind !== "own") return found?.text
    const { module, name } = found
    const key = `${module.path}\n${name}`
    if (!shown.has(key)) {
      const live = liveName(module, name)
      if (live !== undefined || shown.size >= maxTypes || length > maxText) shown.set(key, live)
      else declare(key, module, name, names)
    }
    return shown.get(key)
  }

  /** Returns the name of the bound class or enum that the declaration describes. */
  function liveName(module: SourceModule, name: string): string | undefined {
    const nodes = module.declared.get(name)?.map(({ node }) => node) ?? []
    for (const type of block.liveClasses()) {
      const declaration = lookup.find(type)?.declaration
      const isSame =
        declaration?.module.path === module.path && nodes.some(({ start }) => start === declaration.node.start)
      if (isSame) return block.referToClass(type)
    }
    return nodes.some(({ type }) => type === "TSEnumDeclaration") && block.isBoundEnum(name) ? name : undefined
  }

  function declare(key: string, module: SourceModule, name: string, names: TypeNames): void {
    const nodes = (module.declared.get(name) ?? []).filter(({ node }) => isTypeDeclaration(node))
    if (nodes.length === 0) {
      shown.set(key, undefined)
      return
    }
    const scope: TypeScope = { module, names, typeParameters: new Map() }
    const isClass = nodes.some(({ node }) => node.type.startsWith("Class"))
    block.declareSourceType(name === "default" ? "Default" : name, isClass, (free) => {
      // Known before its text is written: a type may mention itself.
      shown.set(key, free)
      const texts = nodes.map((node) => typeDeclarationText(free, node, scope))
      const text = texts.includes(undefined) ? undefined : texts.join("\n")
      length += text?.length ?? 0
      if (text === undefined) shown.set(key, undefined)
      return text
    })
  }

  return { within }
}
