// Limits how long a test's work may take, so that its cleanup still runs.
export async function withTimeLimit(work: Promise<void>, longestMs = 30_000): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`It hangs: ${longestMs} ms have passed.`)), longestMs)
  try {
    await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
