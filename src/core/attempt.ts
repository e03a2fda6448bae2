// Calls a function whose failure means that there is no result.

/** Returns undefined instead of throwing. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
