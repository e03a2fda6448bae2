// Finds the name that a misspelled name most likely means.
/** Allows one missing, additional, wrong or swapped letter, two in long names. Unlike core/text/nearest-word.ts it
 *  counts a swap of neighbours as one change. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const allowed = name.length < 3 ? 0 : name.length < 7 ? 1 : 2
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > allowed) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { candidate, distance }
  }
  return best?.candidate
}

/** Counts changes of single letters and swaps of neighbours between two words. */
function editDistance(one: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let line = 1; line <= one.length; line++) {
    const next = [line]
    for (let column = 1; column <= other.length; column++) {
      const same = one[line - 1] === other[column - 1]
      const swapped = one[line - 1] === other[column - 2] && one[line - 2] === other[column - 1]
      const left = (next[column - 1] ?? 0) + 1
      const above = (row[column] ?? 0) + 1
      const diagonal = (row[column - 1] ?? 0) + (same ? 0 : 1)
      const swap = swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(left, above, diagonal, swap))
    }
    before = row
    row = next
  }
  return row[other.length] ?? 0
}
