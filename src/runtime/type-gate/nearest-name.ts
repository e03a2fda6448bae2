// Finds the name that a misspelled name most likely means.
import { editDistance } from "../../core/text/nearest-word.ts"

/** Allows one missing, additional, wrong or swapped letter, two in long names. */
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
