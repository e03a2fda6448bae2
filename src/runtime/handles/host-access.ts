// Registers the bindings of one runtime: which functions, guards and extensible objects its cells have.
import { isObject } from "../../core/object.ts"
import { createMethodGuards } from "../bindings/method-guards.ts"
import { createUsedObjects } from "../bindings/used-objects.ts"
import type { Binding } from "../bindings.ts"
import type { Codecs } from "../snapshot/codec.ts"
import { createGatedFunctions } from "./gated-functions.ts"
import { callBoundFunction, callGatedMethod } from "./operations/call-operations.ts"
import type { HostAccess } from "./operations.ts"

export function createHostAccess(
  language: Pick<HostAccess, "missingError" | "convertToOldType" | "wrapCall" | "declare"> = {},
  codecs: Codecs = {},
) {
  const usedObjects = createUsedObjects(codecs)
  const guards = createMethodGuards()
  const extensible = new WeakSet<object>()
  const functions = createGatedFunctions({
    callBound: (bound, args, caller) => callBoundFunction(bound, args, caller),
    callMethod: (method, args, caller) => callGatedMethod(method, args, caller, { functions, guards, usedObjects }),
  })
  return {
    access: { functions, guards, extensible, usedObjects, ...language },
    /** Registers the function, the guards and the extensibility of a binding. Call it before a peer receives the
     *  value. */
    registerBinding(name: string, binding: Binding): void {
      guards.add(name, binding)
      if (binding.kind === "variable" && binding.extend && isObject(binding.value)) extensible.add(binding.value)
      if (binding.kind === "function") functions.bind(name, binding)
    },
  }
}
