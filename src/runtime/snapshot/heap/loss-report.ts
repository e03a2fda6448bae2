// Collects what could not be stored or restored, for people to read. Lists a few places per reason and counts the rest.
import type { RuntimeLoss } from "../../runtime.ts"

export interface LossReport {
  /** Calls `findPath` only if the loss is listed. */
  add(reason: string, findPath: () => ObjectPath): void
  list(): RuntimeLoss[]
}

export interface ObjectPath {
  name: string
  /** For example `.rows[3].socket`; empty for the name itself. */
  path: string
}

export function createLossReport(): LossReport {
  const groups = new Map<string, { listed: RuntimeLoss[]; more: number }>()
  return {
    add(reason, findPath) {
      const group = groups.get(reason) ?? { listed: [], more: 0 }
      groups.set(reason, group)
      if (group.listed.length >= maxPerReason) group.more++
      else group.listed.push(lostAt(findPath(), reason))
    },
    list: () =>
      [...groups].flatMap(([reason, { listed, more }]) => {
        const last = listed.at(-1)
        if (!last || more === 0) return listed
        return [...listed, { name: last.name, reason: `and ${more} more places like this: ${reason}` }]
      }),
  }
}

function lostAt({ name, path }: ObjectPath, reason: string): RuntimeLoss {
  return { name, ...(path !== "" && { path }), reason }
}

const maxPerReason = 5
