// Suggestions for misspelt names.

/** Returns the known word that a misspelt one most likely means; undefined if none is near. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  // Very long words are not misspellings, and comparing them is slow.
  if (word.length > 100) return undefined
  const maxDistance = word.length < 4 ? 2 : Math.min(3, Math.max(2, Math.floor(word.length / 3)))
  const near = known.map((each) => ({ each, distance: editDistance(each.toLowerCase(), word.toLowerCase()) }))
  // Of two words that are equally near, the one of the same length is meant: its letters are only in another order.
  const lengthChange = (each: string) => Math.abs(each.length - word.length)
  const [best] = near
    .filter((candidate) => candidate.distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance || lengthChange(a.each) - lengthChange(b.each))
  return best?.each
}

/** The number of letters to add, remove, replace, or swap with their neighbour (one row at a time). */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : substitution
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution, swap))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
