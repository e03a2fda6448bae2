// Waiting in tests: for a condition, and with a time that is as long as this machine needs.
import { setTimeout } from "node:timers/promises"

/** Waits until a condition holds. If it never does, the test times out. */
export async function until(holds: () => unknown): Promise<void> {
  while (!(await holds())) await setTimeout(5)
}

/** Tries with a time of 250 ms, and with twice the time as long as it was too short for what the test needs: on a busy
 *  machine the work may not have begun within it. Returns the first result that `isReached` accepts. */
export async function withEnoughTime<T>(
  attempt: (ms: number) => Promise<T>,
  isReached: (result: T) => unknown,
): Promise<T> {
  for (let ms = 250; ; ms *= 2) {
    const result = await attempt(ms)
    if (isReached(result) || ms > 10_000) return result
  }
}

/** Waits until what has happened so far is older than 0 ms. */
export async function untilOlder(): Promise<void> {
  const now = Date.now()
  await until(() => Date.now() > now)
}
