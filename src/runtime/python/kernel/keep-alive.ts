/** Keeps the program from ending while something is waited for. A kernel by itself does not: a script that forgets to close
 *  it ends all the same, and the kernel with it. */
export async function keepProgramAlive<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 2 ** 30)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}
