import { isPeerObject } from "../peer-objects.ts"
import { pendingResultOf } from "../pending-result.ts"

/** Refuses a built-in method of JavaScript that a cell calls with a callback of its own. The built-in calls the callback
 *  at once and does not wait for its answer: `filter` would take the unanswered promise for true. */
export function refuseBuiltInCallback(method: object, args: readonly unknown[], title: string): void {
  const name = builtIns.get(method)
  if (name === undefined || !args.some((arg) => isPeerObject(arg) || pendingResultOf(arg))) return
  throw new TypeError(
    `${title} is ${name}, which cannot wait for a function of another process. Read the value first, and call the ` +
      "method on the copy.",
  )
}

/** Every method of the language's own classes, by its name. */
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
  note(type.constructor === Function ? `${Reflect.get(type, "name")}` : "", type)
  const prototype: unknown = Reflect.get(type, "prototype")
  if (typeof prototype === "object" && prototype !== null) note(`${Reflect.get(type, "name")}.prototype`, prototype)
}
note("TypedArray.prototype", Object.getPrototypeOf(Uint8Array.prototype))

function note(owner: string, holder: object): void {
  for (const key of Object.getOwnPropertyNames(holder)) {
    const value: unknown = Object.getOwnPropertyDescriptor(holder, key)?.value
    if (typeof value === "function") builtIns.set(value, owner ? `${owner}.${key}` : key)
  }
}
