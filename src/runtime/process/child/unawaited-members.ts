import { pendingResultOf } from "../../handles/pending-result.ts"
import { isObject } from "../../handles/wire.ts"
import { cellStorage, type RunningCell } from "../../js/running-cell.ts"

// Members of host objects that a cell reads but does not await. Such a member is a Proxy that throws where JavaScript
// lets a Proxy notice its use; this part covers conditions and equalities, and members that are never used at all.

export interface UnawaitedMember {
  proxy: object
  title: string
  isUsed(): boolean
  /** The same member, which stands for undefined, with everything after it, where it is null or undefined. */
  optional(): object
}

const members = new WeakMap<object, UnawaitedMember>()
const handles = new WeakMap<object, string>()
const ofCell = new WeakMap<RunningCell, { member: UnawaitedMember; readAt: Error }[]>()

/** Creates a member and makes the running cell fail in the end if the member was neither awaited, called nor walked. */
export function trackMember(create: (readAt: Error) => UnawaitedMember): object {
  const readAt = new Error()
  const member = create(readAt)
  members.set(member.proxy, member)
  const cell = cellStorage.getStore()
  if (cell && !cell.hasEnded) membersReadBy(cell).push({ member, readAt })
  return member.proxy
}

/** What a member is called, as a program would write it; undefined for anything else. */
export function memberTitle(value: unknown): string | undefined {
  return typeof value === "function" ? members.get(value)?.title : undefined
}

/** Remembers how a handle is called, as a program would write it. */
export function rememberHandleTitle(proxy: object, title: string): void {
  handles.set(proxy, title)
}

/** The value before `?.`. */
export function optionalMember(value: unknown): unknown {
  const member = typeof value === "function" ? members.get(value) : undefined
  return member ? member.optional() : value
}

/** The object of `object.method?.()`: a host object whose members are optional, or the object itself. */
export function optionalMethods(value: unknown): unknown {
  if (!isObject(value) || (!members.has(value) && !handles.has(value))) return value
  return new Proxy({}, { get: (_, key) => optionalMember(Reflect.get(value, key)) })
}

/** Throws for a member that a default value was to replace where it is undefined. */
export function refuseDefault(value: unknown): void {
  const title = memberTitle(value)
  if (title === undefined) return
  throw new TypeError(
    `${title} is on the host: default values do not replace it, because it is not read yet. Write \`await\`: (await ${title}) ?? value.`,
  )
}

/** Throws for an object of the host: none of its fields is null or undefined before it is awaited, so that `??=` would
 *  never apply. */
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
    // Its stack shows where the member was read.
    throw Object.defineProperty(readAt, "message", { value: message, writable: true, configurable: true })
  })
  return list
}
