// 100 MB there and back: round-trip.ts <driver> <folder> <S3 endpoint>
import { createReadStream, createWriteStream, readFileSync } from "node:fs"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { localWorkspace, memoryWorkspace, s3Workspace, type Workspace } from "karst/workspaces"
import { credentials } from "../../test/workspaces/start-s3rver.ts"

export interface RoundTrip {
  ms: number
  /** Beyond what the process occupied before. */
  peakMegabytes: number
}

const [, , driver = "", folder = "", endpoint = ""] = process.argv
const megabytes = 100
const workspaces: { [name: string]: () => Workspace } = {
  local: () => localWorkspace(join(folder, "local")),
  memory: () => memoryWorkspace(),
  s3: () => s3Workspace({ bucket: "karst", endpoint, credentials }),
}

const workspace = workspaces[driver]?.()
// What is loaded at first use is no part of the way.
await workspace?.write("warm", "up")
const before = status("VmRSS")
const start = performance.now()
const received = workspace ? await through(workspace) : await plainly(join(folder, "plain.bin"))
const ms = performance.now() - start
if (received !== megabytes * 2 ** 20) throw new Error(`${received} bytes came back.`)
process.send?.({ ms, peakMegabytes: status("VmHWM") - before } satisfies RoundTrip, () => process.exit())

async function through(workspace: Workspace): Promise<number> {
  await workspace.write("large.bin", source())
  return await lengthOf(workspace.stream("large.bin"))
}

async function plainly(file: string): Promise<number> {
  await pipeline(Readable.from(source()), createWriteStream(file, { flush: true }))
  return await lengthOf(createReadStream(file))
}

async function* source(): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(2 ** 18)
  for (let number = 0; number < megabytes * 4; number++) yield chunk.fill(number)
}

async function lengthOf(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let length = 0
  for await (const chunk of chunks) length += chunk.length
  return length
}

/** In MB, where there is a /proc to look it up; else 0. */
function status(field: "VmRSS" | "VmHWM"): number {
  try {
    const text = readFileSync("/proc/self/status", "utf8")
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
