import { Worker } from "node:worker_threads"

/** What a worker of these tests is given. It writes the number of the case it tries into `at[0]` and counts in `at[1]`
 *  before each attempt. */
export interface LinearWork {
  at: Int32Array
  from: number
}

/** Processor time. No attempt takes as much where its work grows with the size of the text alone. */
const hangMs = 30_000

/** Tries all cases of a worker and gives those during which it stood still: such a worker is ended, and another goes on
 *  with the next case. */
export async function casesThatHang(worker: URL): Promise<{ number: number; attempt: string }[]> {
  const hanging: { number: number; attempt: string }[] = []
  for (let from = 0; ; ) {
    const at = new Int32Array(new SharedArrayBuffer(8))
    const end = await standStill(worker, { at, from })
    if (end === undefined) return hanging
    hanging.push({ number: at[0] ?? 0, attempt: end })
    from = (at[0] ?? 0) + 1
  }
}

function standStill(file: URL, work: LinearWork): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(file, { workerData: work })
    let attempt = ""
    let before = { count: -1, since: usedMs() }
    const timer = setInterval(() => {
      const count = work.at[1] ?? 0
      if (count !== before.count) before = { count, since: usedMs() }
      if (usedMs() - before.since < hangMs) return
      clearInterval(timer)
      void worker.terminate().then(() => resolve(attempt))
    }, 100)
    worker.on("message", (text: string) => {
      attempt = text
    })
    worker.on("error", (error) => {
      clearInterval(timer)
      reject(error)
    })
    worker.on("exit", (code) => {
      clearInterval(timer)
      if (code === 0) resolve(undefined)
    })
  })
}

// Of the whole process, in which only the worker does anything.
function usedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
