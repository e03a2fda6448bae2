/** Numbers that look random and are the same in every run. */
export function randomFrom(seed: number): { below(limit: number): number; pick<T>(list: readonly T[]): T } {
  let state = seed >>> 0
  const below = (limit: number) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39) >>> 0
    return (mixed ^ (mixed >>> 15)) % limit
  }
  return {
    below: (limit) => Math.abs(below(limit)),
    pick<T>(list: readonly T[]): T {
      const [first] = list
      const found = list[Math.abs(below(list.length))] ?? first
      if (found === undefined && list.length === 0) throw new Error("Nothing to pick from.")
      return found as T
    },
  }
}
