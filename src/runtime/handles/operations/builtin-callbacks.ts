// Refuses calls of built-in methods, such as `Array.prototype.filter`, with a callback that lives in a cell.
import { isPeerObject } from "../peer-objects.ts"
import { pendingResultOf } from "../pending-result.ts"

/** A built-in calls the callback synchronously and cannot wait for the answer: `filter` would take the pending promise
 *  for true. */
export function refuseBuiltInCallback(method: object, args: readonly unknown[], title: string): void {
  const name = builtIns.get(method)
  if (name === undefined || !args.some((arg) => isPeerObject(arg) || pendingResultOf(arg))) return
  throw new TypeError(
    `${title} is ${name}, which cannot wait for a function of another process. Read the value first, and call the ` +
      "method on the copy.",
  )
}

/** The names of all methods of the built-in classes. */
const builtIns = new Map<object, string>()
for (const type of [
  Array,
  Map,
  Set,
  WeakMap,
  WeakSet,
  String,
  RegExp,
  Promise,
  Iterator,
  Date,
  Number,
  Object,
  JSON,
  Reflect,
]) {
  addMethods(type.constructor === Function ? `${Reflect.get(type, "name")}` : "", type)
  const prototype: unknown = Reflect.get(type, "prototype")
  if (typeof prototype === "object" && prototype !== null)
    addMethods(`${Reflect.get(type, "name")}.prototype`, prototype)
}
addMethods("TypedArray.prototype", Object.getPrototypeOf(Uint8Array.prototype))

function addMethods(owner: string, holder: object): void {
  for (const key of Object.getOwnPropertyNames(holder)) {
    const value: unknown = Object.getOwnPropertyDescriptor(holder, key)?.value
    if (typeof value === "function") builtIns.set(value, owner ? `${owner}.${key}` : key)
  }
}
