// Finds values that a cell could have changed but that an undo image does not cover.
import type { RuntimeLoss } from "../runtime.ts"
import { createUndoImage, type UndoOptions } from "../snapshot/undo.ts"
import type { Namespace } from "./namespace.ts"
import { unwrapObjectProxy, unwrapProxy } from "./proxies/function-proxy.ts"

/** How an image of a namespace is taken. */
export function undoImageOptions({ origins }: Namespace): UndoOptions {
  return { skippedObjects: origins.platformModules(), proxyTarget: objectBehindProxy }
}

// Host functions are not followed; a guarded object is captured behind its proxy.
function objectBehindProxy(proxy: object): object | null | undefined {
  const real = unwrapObjectProxy(proxy)
  if (typeof real === "object" && real !== null && real !== proxy) return real
  return unwrapProxy(proxy) === proxy ? undefined : null
}

/** The uncaptured values among those that a cell could have changed that mentions these names: reachable from the
 *  names' values, and from the names that functions among these mention. Undefined if a function's source is unknown:
 *  then it could have changed anything. */
export function findUncaptured(
  mentioned: readonly string[] | undefined,
  namespace: Namespace,
): RuntimeLoss[] | undefined {
  if (!mentioned) return undefined
  const { scope, origins } = namespace
  const names = new Set(mentioned)
  for (;;) {
    const functions = new Set<unknown>()
    const part = Object.fromEntries(
      [...names].filter((name) => Object.hasOwn(scope, name)).map((name) => [name, scope[name]]),
    )
    const { uncaptured } = createUndoImage(part, {
      ...undoImageOptions(namespace),
      onFunction: (value) => functions.add(value),
    })
    const { size } = names
    for (const value of functions) {
      const origin = typeof value === "function" ? origins.originOf(value) : undefined
      if (!origin) continue
      for (const name of origin.known) names.add(name)
      for (const covered of [value, ...methodsOf(value)]) functions.delete(covered)
    }
    if (functions.size > 0) return undefined
    if (names.size === size) return uncaptured
  }
}

/** The functions that a class declaration creates. */
function methodsOf(value: unknown): unknown[] {
  const { prototype, ...covered } = Object.getOwnPropertyDescriptors(value) as Record<string, PropertyDescriptor>
  const inherited = Object.getOwnPropertyDescriptors(Object(prototype?.value)) as Record<string, PropertyDescriptor>
  return [...Object.values(covered), ...Object.values(inherited)]
    .flatMap(({ value: member, get, set }) => [member, get, set])
    .filter((member) => typeof member === "function")
}
