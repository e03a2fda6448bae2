// Limits how long a test's work may take, so that its cleanup still runs.
import { resultWithin } from "../core/time-limit.ts"

export async function withTimeLimit(work: Promise<void>, longestMs = 50_000): Promise<void> {
  const done = work.then(() => true)
  if (!(await resultWithin(done, longestMs))) throw new Error(`It hangs: ${longestMs} ms have passed.`)
}
