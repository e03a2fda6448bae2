// Names the facts that the commits of a run store. Writes that come together are one commit, and whether they do
// depends on time. Every run of a kind stores the same facts, so a kill point is the commit that stores a fact.
import type { StoreChange } from "karst/stores"
import type { RunHead } from "../../../src/engine/checkpoint.ts"
import { linesOf } from "./ledger.ts"

/** Returns the facts that a commit stores and no earlier commit of this process has stored. */
export function createFactReader(): (changes: readonly StoreChange[]) => string[] {
  const known = new Set<string>()
  /** Answers in saved cycles, and those in the journal of the cycle under way. */
  const told = new Map<string, number>()
  const answered = new Map<string, number>()
  const claimed = new Map<string, number>()
  let claims = 0
  let messages = 0

  const add = (counts: Map<string, number>, label: string): number => {
    const count = (counts.get(label) ?? 0) + 1
    counts.set(label, count)
    return count
  }

  function* factsOf(changes: readonly StoreChange[]): Generator<string> {
    for (const line of linesOf(changes)) {
      if (line.what === "begun" || line.what === "done") yield `${line.what} ${line.label}`
      // The entries of a cycle are left out if the end of the cycle is stored at once.
      if (line.what === "answered") {
        const inCycle = add(answered, line.label)
        yield `answer ${(told.get(line.label) ?? 0) + inCycle} of ${line.label}`
      }
      if (line.what === "told") yield `answer ${add(told, line.label)} of ${line.label}`
      if (line.what === "cycle") answered.clear()
    }
    for (const change of changes) {
      if (change.type === "append" && change.log.endsWith("/inbox")) yield `message ${++messages}`
      if (change.type === "put" && /^runs\/[^/]+$/.test(change.key))
        yield* headFacts(change.value as unknown as RunHead)
    }
  }

  // Named by the cycle and not by the number of the claim: a job that is handled once more claims its run once more.
  function* headFacts({ status, fence, state, asked, inbox }: RunHead): Generator<string> {
    const cycle = `in cycle ${state?.cycle ?? "none"}`
    if (fence > claims) yield `claim ${add(claimed, cycle)} ${cycle}`
    claims = fence
    if (status !== "running") yield `${status} ${cycle}`
    if (state) yield `cycle ${state.cycle}`
    yield `${inbox} messages read`
    for (const { call, decision } of asked) yield `${call.binding}(${call.args}) ${decision ?? "asked"}`
  }

  return (changes) => {
    const added = new Set(factsOf(changes)).difference(known)
    for (const fact of added) known.add(fact)
    return [...added]
  }
}
