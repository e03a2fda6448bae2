// Benchmark: 100 MB through each workspace and back.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { interleave, ratio, stats } from "./measure.ts"
import { budget, type Report, type Row } from "./report.ts"
import type { RoundTrip } from "./workspace/round-trip.ts"

const drivers = ["plain streams", "local", "s3", "memory"] as const

/** 100 MB through each workspace and back, in chunks, each in a process of its own: how long it takes, and how much
 *  memory it needs on the way. */
export async function workspace(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "karst-bench-"))
  const server = fork(join(import.meta.dirname, "workspace/s3-server.ts"))
  try {
    const [endpoint] = await once(server, "message")
    const peaks = Object.fromEntries(drivers.map((name) => [name, [] as number[]]))
    const trip = (name: string) => async () => {
      const { ms, peakMegabytes } = await roundTrip(name, folder, String(endpoint))
      peaks[name]?.push(peakMegabytes)
      return ms
    }
    const trips = {
      "plain streams": trip("plain streams"),
      local: trip("local"),
      s3: trip("s3"),
      memory: trip("memory"),
    }
    const samples = await interleave(trips, { rounds: 5, warmups: 1 })
    const plain = samples["plain streams"]
    const rows = drivers.flatMap((name): Row[] => [
      {
        what: `${name}: 100 MB there and back`,
        unit: "ms",
        ...stats(samples[name]),
        ...(name !== "plain streams" && { ratios: { "plain streams": ratio(samples[name], plain) } }),
      },
      { what: `${name}: peak memory on the way`, unit: "MB", ...stats(peaks[name] ?? []) },
    ])
    const peak = (name: string) => stats(peaks[name] ?? []).median
    return {
      rows,
      budgets: [
        // Garbage that waits for its collector; 400 MB take no more than 100.
        budget("100 MB through localWorkspace: peak memory", 96, peak("local"), "MB"),
        budget("100 MB through s3Workspace: peak memory", 160, peak("s3"), "MB"),
        budget("100 MB through memoryWorkspace: peak memory, not held twice", 190, peak("memory"), "MB"),
      ],
    }
  } finally {
    await ended(server)
    rmSync(folder, { recursive: true })
  }
}

async function roundTrip(name: string, folder: string, endpoint: string): Promise<RoundTrip> {
  const child = fork(join(import.meta.dirname, "workspace/round-trip.ts"), [name, folder, endpoint])
  const exit = once(child, "exit")
  const [result] = await Promise.race([once(child, "message"), exit.then(() => [undefined])])
  await exit
  if (!result) throw new Error(`The round trip through ${name} failed.`)
  return result as RoundTrip
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit")
  child.send("stop")
  await exit
}
