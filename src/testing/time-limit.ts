// Limits how long a test's work may take, so that its cleanup still runs.
import { resultWithin } from "../core/time-limit.ts"

export async function withTimeLimit(work: Promise<void>, limitMs = 50_000): Promise<void> {
  const done = work.then(() => true)
  if (!(await resultWithin(done, limitMs))) throw new Error(`It hangs: ${limitMs} ms have passed.`)
}
