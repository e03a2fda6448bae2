// Reads the types of running functions and classes from the files that declare them.
import type { Function as FunctionNode, Node } from "acorn"
import { attempt } from "../../../core/attempt.ts"
import type { ClassSource } from "../class-source.ts"
import type { DeclarationBlock } from "../declaration-block.ts"
import { inferredSignature } from "../function-signature.ts"
import { childNode, parseSignature } from "../parse-signature.ts"
import { any, type Signature } from "../type-tree.ts"
import { classText, functionText } from "./declaration-text.ts"
import { docBefore, shortDoc } from "./doc-text.ts"
import { withDocTypes } from "./doc-types.ts"
import type { FoundDeclaration } from "./find-declaration.ts"
import { readClassText, readFunctionText } from "./parsed-text.ts"
import { childNodes, resolveTypes, type TypeScope, withTypeParameters } from "./resolve-types.ts"
import type { SourceLookup } from "./source-lookup.ts"
import { createTypeNames } from "./type-names.ts"

/** What the files of the user say about running functions and classes. Each method returns undefined if no file is
 *  found that matches the running code. */
export interface SourceTypes {
  functionSource(call: object): WrittenFunction | undefined
  /** `typeArguments` replace the type parameters of a base class whose members are shown in another class. */
  classSource(type: object, typeArguments?: readonly string[]): WrittenClass | undefined
  /** Returns the signature that running code and its JSDoc comment show. */
  inferredSignature(call: object): Signature
  /** Returns the first paragraph of the JSDoc comment, and the descriptions of parameters. */
  docOf(call: object): string | undefined
  /** Returns text such as `import("node:sqlite").DatabaseSync` for a class of Node or of a package. */
  referenceTo(type: object): string | undefined
}

export interface WrittenFunction {
  signatures: Signature[]
  doc: string | undefined
}

export interface WrittenClass extends Omit<ClassSource, "base" | "baseArguments"> {
  /** The names of members that only the class itself may use. */
  hidden: ReadonlySet<string>
  /** The type arguments of the base class. */
  baseArguments: readonly string[]
}

export const noSourceTypes: SourceTypes = {
  functionSource: () => undefined,
  classSource: () => undefined,
  inferredSignature,
  docOf: () => undefined,
  referenceTo: () => undefined,
}

export function createSourceTypes(lookup: SourceLookup, block: DeclarationBlock): SourceTypes {
  const functions = new Map<object, WrittenFunction | undefined>()
  const classes = new Map<string, WrittenClass | undefined>()
  const names = createTypeNames(lookup, block)
  const scopeOf = ({ module }: FoundDeclaration): TypeScope => ({
    module,
    names: names.within(module),
    typeParameters: new Map(),
  })
  return {
    functionSource(call) {
      if (functions.has(call)) return functions.get(call)
      const found = lookup.find(call)?.declaration
      const written = found && attempt(() => readFunction(found, scopeOf(found)))
      if (lookup.find(call)) functions.set(call, written)
      return written
    },
    classSource(type, typeArguments) {
      const found = lookup.find(type)?.declaration
      if (!found) return undefined
      const key = JSON.stringify([found.module.path, found.node.start, typeArguments])
      if (classes.has(key)) return classes.get(key)
      // A class may mention itself.
      classes.set(key, undefined)
      const written = attempt(() => readClassSource(found, scopeOf(found), typeArguments))
      classes.set(key, written)
      return written
    },
    inferredSignature(call) {
      const found = lookup.find(call)?.declaration
      return withDocTypes(inferredSignature(call), found && docBefore(found.module.code, found.holder.start))
    },
    docOf(call) {
      const found = lookup.find(call)?.declaration
      return found && docOf(found)
    },
    referenceTo: (type) => lookup.find(type)?.reference(),
  }
}

function docOf({ module, holder }: FoundDeclaration): string | undefined {
  return shortDoc(docBefore(module.code, holder.start))
}

/** JavaScript without declarations has no types to read. */
function hasTypes({ module }: FoundDeclaration): boolean {
  return !/\.[cm]?jsx?$/.test(module.path)
}

function readFunction(found: FoundDeclaration, scope: TypeScope): WrittenFunction | undefined {
  const { module, node, name, annotation } = found
  if (node.type === "ClassDeclaration" || node.type === "ClassExpression" || !hasTypes(found)) return undefined
  const declared = name === undefined ? [] : (module.declared.get(name) ?? [])
  const overloads = declared.filter((each) => each.node.type === "TSDeclareFunction")
  const doc = overloads.find((each) => each.doc)?.doc
  const typed = overloads.length === 0 && annotation ? contextualSignature(annotation, node, scope) : undefined
  // An overload has every part of a function except the body, but acorn's types do not know it.
  const nodes = overloads.length > 0 ? overloads.map((each) => each.node as Node as FunctionNode) : [node]
  if (!typed && found.isAnnotationOnly) return undefined
  const signatures = typed ? [typed] : nodes.map((each) => readFunctionText(functionText(each, scope)))
  return { signatures: signatures.map(withoutBound), doc: doc === undefined ? docOf(found) : shortDoc(doc) }

  function withoutBound(signature: Signature): Signature {
    const { boundArguments = 0 } = found
    const isRest = ({ rest }: { rest?: boolean | undefined }) => rest === true
    return {
      ...signature,
      parameters: signature.parameters.filter((each, index) => index >= boundArguments || isRest(each)),
    }
  }
}

/** Reads the signature of `const add: Add = (a, b) => …` from the type of the variable. */
function contextualSignature(annotation: Node, node: FunctionNode, scope: TypeScope): Signature | undefined {
  const isTyped = node.returnType !== undefined || node.params.some((each) => childNode(each, "typeAnnotation"))
  const type = childNode(annotation, "typeAnnotation")
  if (isTyped || !type) return undefined
  const { type: aliased, scope: inner } = scope.names.aliasedType(type, scope) ?? { type, scope }
  const text = aliased.type === "TSFunctionType" ? resolveTypes(aliased, inner) : undefined
  return text === undefined ? undefined : attempt(() => parseSignature(text, "a function"))
}

function readClassSource(
  found: FoundDeclaration,
  scope: TypeScope,
  typeArguments: readonly string[] | undefined,
): WrittenClass | undefined {
  const { node } = found
  if ((node.type !== "ClassDeclaration" && node.type !== "ClassExpression") || !hasTypes(found)) return undefined
  const { text, hidden, isCut } = classText(node, "C", scope, typeArguments)
  const { base: _, ...written } = readClassText(text)
  const inner = withTypeParameters(node, scope)
  const list = node.superTypeParameters
  return {
    ...written,
    hidden,
    baseArguments: list ? childNodes(list).map((each) => resolveTypes(each, inner) ?? "any") : [],
    members: isCut ? [...written.members, { name: "[member: string]", form: "field", type: any }] : written.members,
  }
}
