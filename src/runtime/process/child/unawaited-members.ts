// Detects members of host objects that a cell reads but does not await. Such a member is a Proxy that throws where a
// Proxy can notice its use. This file covers conditions, equality, and members that are never used.
import { isObject } from "../../../core/object.ts"
import { pendingResultOf } from "../../handles/pending-result.ts"
import { cellStorage, type RunningCell } from "../../js/running-cell.ts"

export interface UnawaitedMember {
  proxy: object
  title: string
  isUsed(): boolean
  /** Returns the same member before `?.`: if it is null or undefined, the rest of the path is undefined. */
  optional(): object
}

const members = new WeakMap<object, UnawaitedMember>()
const handles = new WeakMap<object, string>()
const ofCell = new WeakMap<RunningCell, { member: UnawaitedMember; readAt: Error }[]>()

/** Creates a member. The running cell fails at its end if the member was never awaited, called or iterated. */
export function trackMember(create: (readAt: Error) => UnawaitedMember): object {
  const readAt = new Error()
  const member = create(readAt)
  members.set(member.proxy, member)
  const cell = cellStorage.getStore()
  if (cell && !cell.hasEnded) membersReadBy(cell).push({ member, readAt })
  return member.proxy
}

/** Returns the expression of a member, or undefined if the value is not a member. */
export function memberTitle(value: unknown): string | undefined {
  return typeof value === "function" ? members.get(value)?.title : undefined
}

/** Remembers the expression of a handle. */
export function rememberHandleTitle(proxy: object, title: string): void {
  handles.set(proxy, title)
}

/** Converts the value before `?.`. */
export function optionalMember(value: unknown): unknown {
  const member = typeof value === "function" ? members.get(value) : undefined
  return member ? member.optional() : value
}

/** Converts the object of `object.method?.()`: the members of a host object become optional. */
export function optionalMethods(value: unknown): unknown {
  if (!isObject(value) || (!members.has(value) && !handles.has(value))) return value
  return new Proxy({}, { get: (_, key) => optionalMember(Reflect.get(value, key)) })
}

/** Throws for a member that has a default value, because the default would never apply. */
export function refuseDefault(value: unknown): void {
  const title = memberTitle(value)
  if (title === undefined) return
  throw new TypeError(
    `${title} is on the host: default values do not replace it, because it is not read yet. Write \`await\`: (await ${title}) ?? value.`,
  )
}

/** Throws for a host object: no field is null or undefined before it is awaited, so that `??=` would never apply. */
export function refuseLogicalAssignment(value: unknown): void {
  const title = memberTitle(value) ?? (isObject(value) ? handles.get(value) : undefined)
  if (title === undefined) return
  throw new TypeError(
    `${title} is on the host: \`??=\`, \`||=\` and \`&&=\` do not see its fields. Write \`await\`: (await ${title}.field) ?? value.`,
  )
}

/** Throws for a member or a call's result that was not awaited. */
export function refuseUnawaited(value: unknown): void {
  const title = memberTitle(value)
  if (title !== undefined) throw new TypeError(`${title} is on the host: write \`await\` before it to read it.`)
  const pending = pendingResultOf(value)
  if (pending) throw new TypeError(`The result of ${pending.title} was not awaited: write \`await\` before the call.`)
}

function membersReadBy(cell: RunningCell): { member: UnawaitedMember; readAt: Error }[] {
  const known = ofCell.get(cell)
  if (known) return known
  const list: { member: UnawaitedMember; readAt: Error }[] = []
  ofCell.set(cell, list)
  cell.endChecks.push(() => {
    const unused = list.find(({ member }) => !member.isUsed())
    if (!unused) return
    const { readAt, member } = unused
    const message = `${member.title} was read but not awaited: write \`await ${member.title}\`.`
    // The stack of this error shows where the member was read.
    throw Object.defineProperty(readAt, "message", { value: message, writable: true, configurable: true })
  })
  return list
}
