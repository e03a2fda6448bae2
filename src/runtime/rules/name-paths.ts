// Determines from the code alone which outside value an expression refers to, as a path: `process.exit`.
import { isBuiltin } from "node:module"
import type { AnyNode, CallExpression, Identifier } from "acorn"
import { innerExpression } from "../compiler/destructuring.ts"
import { eachChild } from "../compiler/parse-cell.ts"
import type { Declaration, ScopeAnalysis } from "../compiler/scope-analysis.ts"
import * as builtins from "./builtin-calls.ts"
import { constructorPath, globalPath, normalizeModuleName, promisePrefix, prototypePath } from "./path-names.ts"

/** A path starts at a name that the cell does not declare. `process.exit` is also the path of
 *  `globalThis["process"].exit`, of a destructured or imported `exit`, and of a variable that holds it and is never
 *  reassigned. */
export function createNamePaths({ references }: ScopeAnalysis) {
  const paths = new Map<Declaration, string | undefined>()
  const texts = new Map<Declaration, string | undefined>()
  return { of, ofCall, constant, changeable, key }

  function of(node: AnyNode): string | undefined {
    switch (node.type) {
      case "Identifier":
        return ofName(node)
      case "MemberExpression":
        return memberPath(of(node.object), key(node.computed, node.property))
      case "CallExpression":
        return ofCall(node, of(node.callee))
      case "ImportExpression":
        return promiseOf(modulePath(constant(node.source)))
      case "AwaitExpression":
        return pathAfterAwait(of(node.argument))
      case "ImportDeclaration":
        return modulePath(String(node.source.value))
      case "TSExternalModuleReference":
        return modulePath(String(node.expression.value))
      case "TSQualifiedName":
        return memberPath(of(node.left), node.right.name)
      default: {
        const inner = sameValue(node)
        return inner && of(inner)
      }
    }
  }

  function ofName(node: Identifier): string | undefined {
    const reference = references.get(node)
    if (!reference) return undefined
    const { declaration } = reference
    if (!declaration) return rootPath(node.name)
    // A parameter or loop variable has no initializer, but a member named constructor has a path for any object.
    if (!declaration.init && declaration.path.includes("constructor")) return pathOfPattern(undefined, declaration)
    return resolveOnce(paths, declaration, (init) => pathOfPattern(of(init), declaration))
  }

  function pathOfPattern(start: string | undefined, { path }: Declaration): string | undefined {
    let found = start
    for (const step of path) found = memberPath(found, step)
    return found
  }

  function ofCall({ arguments: [first, second] }: CallExpression, callee: string | undefined): string | undefined {
    if (callee === undefined || !first) return undefined
    if (builtins.moduleLoaders.has(callee)) return modulePath(constant(first))
    if (builtins.memberReads.has(callee)) return memberPath(of(first), constant(second))
    if (builtins.moduleLoaderFactories.has(callee)) return "require"
    if (builtins.prototypeReads.has(callee)) return prototypePath
    // `Object.freeze(x)` and similar functions return x.
    return callee.startsWith("Object.") && (builtins.objectWrites.has(callee) || builtins.memberWrites.has(callee))
      ? of(first)
      : undefined
  }

  /** The string that an expression always evaluates to; undefined if there is none. */
  function constant(node: AnyNode | undefined): string | undefined {
    switch (node?.type) {
      case "Literal":
        return String(node.value)
      case "TemplateLiteral": {
        const inserted = node.expressions.map(constant)
        if (inserted.includes(undefined)) return undefined
        return limitLength(
          node.quasis.map((quasi, index) => (quasi.value.cooked ?? "") + (inserted[index] ?? "")).join(""),
        )
      }
      case "BinaryExpression": {
        if (node.operator !== "+") return undefined
        const [left, right] = [constant(node.left), constant(node.right)]
        return left === undefined || right === undefined ? undefined : limitLength(left + right)
      }
      case "Identifier": {
        const declaration = references.get(node)?.declaration
        return declaration?.path.length === 0 ? resolveOnce(texts, declaration, constant) : undefined
      }
      case "CallExpression":
        return constantCall(node)
      default: {
        const inner = node && sameValue(node)
        return inner && constant(inner)
      }
    }
  }

  /** Evaluates the common ways to hide a word: `["a", "b"].join("")`, `"a".concat("b")`, `"A".toLowerCase()`. */
  function constantCall({ callee, arguments: args }: CallExpression): string | undefined {
    if (callee.type !== "MemberExpression") return undefined
    const given = args.map(constant)
    const method = key(callee.computed, callee.property)
    if (given.includes(undefined)) return undefined
    if (method === "join" && callee.object.type === "ArrayExpression") {
      const items = callee.object.elements.map((element) => constant(element ?? undefined))
      return items.includes(undefined) ? undefined : limitLength(items.join(given[0]))
    }
    const text = method && constant(callee.object)
    if (text === undefined) return undefined
    if (method === "concat") return limitLength(text + given.join(""))
    if (method === "toLowerCase") return text.toLowerCase()
    return method === "toUpperCase" ? text.toUpperCase() : undefined
  }

  /** Returns true if a later cell may change that string, because it depends on a top-level name of the cell. */
  function changeable(node: AnyNode | undefined): boolean {
    if (node?.type === "Identifier") {
      const reference = references.get(node)
      return reference?.scope?.kind === "cell" || changeable(reference?.declaration?.init)
    }
    let found = false
    if (node && node.type !== "Literal") {
      eachChild(node, (child) => {
        if (changeable(child)) found = true
      })
    }
    return found
  }

  /** The name of a member or of a key in a pattern; undefined if it cannot be determined. */
  function key(computed: boolean, name: AnyNode): string | undefined {
    if (name.type === "PrivateIdentifier") return `#${name.name}`
    return !computed && name.type === "Identifier" ? name.name : constant(name)
  }
}

/** Returns the path of a member. `default` of a module is the module itself. */
export function memberPath(object: string | undefined, key: string | undefined): string | undefined {
  if (key === "constructor") return constructorPath
  if (object === undefined || key === undefined) return undefined
  if (object === globalPath || object === "window" || object === "self") return rootPath(key)
  return key === "default" ? object : `${object}.${key}`
}

export function pathAfterAwait(path: string | undefined): string | undefined {
  return path?.startsWith(promisePrefix) ? path.slice(promisePrefix.length) : path
}

function modulePath(specifier: string | undefined): string | undefined {
  if (specifier === undefined) return undefined
  const name = normalizeModuleName(specifier)
  return isBuiltin(`node:${name}`) ? name : undefined
}

function rootPath(name: string): string {
  return name === "global" ? globalPath : name
}

function promiseOf(path: string | undefined): string | undefined {
  return path === undefined ? undefined : promisePrefix + path
}

/** Refuses long strings, which no name is: a string that doubles with every line could fill the memory. */
function limitLength(text: string): string | undefined {
  return text.length > 1_000 ? undefined : text
}

/** Finds the value of a variable that is never reassigned, once; unknown if the variable depends on itself. */
function resolveOnce(
  known: Map<Declaration, string | undefined>,
  declaration: Declaration,
  find: (init: AnyNode) => string | undefined,
): string | undefined {
  if (known.has(declaration)) return known.get(declaration)
  known.set(declaration, undefined)
  if (!declaration.init || declaration.references.some(({ write }) => write)) return undefined
  const found = find(declaration.init)
  known.set(declaration, found)
  return found
}

/** Returns the inner expression that has the same value. */
function sameValue(node: AnyNode): AnyNode | undefined {
  return node.type === "SequenceExpression" ? node.expressions.at(-1) : innerExpression(node)
}
