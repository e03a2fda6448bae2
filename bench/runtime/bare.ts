// A plain Node child process that answers messages: the baseline for runtimes in another process.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { perUnit } from "../measure.ts"

const echo = "process.on('message', (message) => process.send(message))"

/** A process of Node's own that answers: what a runtime in another process is built on. */
export interface BareNode extends AsyncDisposable {
  /** Sends something and waits for it to come back. */
  trip(): Promise<void>
}

export function bareNode(): BareNode {
  const child = spawn(process.execPath, ["-e", echo], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  })
  return {
    async trip() {
      child.send({ code: "1 + 1" })
      await once(child, "message")
    },
    async [Symbol.asyncDispose]() {
      child.kill()
      await once(child, "exit")
    },
  }
}

/** From nothing to the first answer. */
export async function bareStart(): Promise<number> {
  const begun = performance.now()
  await using child = bareNode()
  await child.trip()
  return performance.now() - begun
}

export function bareTrips(child: BareNode, count: number): Promise<number> {
  return perUnit(count, async () => {
    for (let trip = 0; trip < count; trip++) await child.trip()
  })
}
