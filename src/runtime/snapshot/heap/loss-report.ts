import type { RuntimeLoss } from "../../runtime.ts"

/** What could not be kept or brought back, told so that people can read it: of many alike, a few one by one. */
export interface LossReport {
  /** The place is only asked for where it is told. */
  add(reason: string, place: () => ObjectPath): void
  list(): RuntimeLoss[]
}

export interface ObjectPath {
  name: string
  /** Such as `.rows[3].socket`; empty for the name itself. */
  path: string
}

export function createLossReport(): LossReport {
  const groups = new Map<string, { told: RuntimeLoss[]; more: number }>()
  return {
    add(reason, place) {
      const group = groups.get(reason) ?? { told: [], more: 0 }
      groups.set(reason, group)
      if (group.told.length >= maxPerReason) group.more++
      else group.told.push(lostAt(place(), reason))
    },
    list: () =>
      [...groups].flatMap(([reason, { told, more }]) => {
        const last = told.at(-1)
        if (!last || more === 0) return told
        return [...told, { name: last.name, reason: `and ${more} more places like this: ${reason}` }]
      }),
  }
}

function lostAt({ name, path }: ObjectPath, reason: string): RuntimeLoss {
  return { name, ...(path !== "" && { path }), reason }
}

const maxPerReason = 5
