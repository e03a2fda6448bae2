/** The known word that is most likely meant by a misspelt one; undefined where none is near. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  // A very long word is no misspelling, and comparing costs in proportion to its length.
  if (word.length > 100) return undefined
  const most = word.length < 4 ? 2 : Math.min(3, Math.max(2, Math.floor(word.length / 3)))
  const near = known.map((each) => ({ each, distance: editDistance(each.toLowerCase(), word.toLowerCase()) }))
  const [best] = near.filter((candidate) => candidate.distance <= most).sort((a, b) => a.distance - b.distance)
  return best?.each
}

/** How many letters must be added, removed or replaced (Levenshtein, one row at a time). */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution))
    }
    row = next
  }
  return row[b.length] ?? 0
}
