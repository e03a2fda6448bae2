// Keeps the program running while it waits for a kernel.
/** A running kernel does not keep the program alive: a script that never closes it can still end, and the kernel ends
 *  too. Only this timer does, until the work is done. */
export async function keepProgramAlive<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 2 ** 30)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}
