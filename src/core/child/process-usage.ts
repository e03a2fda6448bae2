// Measures the memory and processor time of a process and its descendants, from /proc.
import { readdirSync, readlinkSync, statfsSync, statSync } from "node:fs"
import { attempt } from "../attempt.ts"
import { readProcFile } from "./process-tree.ts"

/** Returns an upper bound of the memory that processes use: private and shared pages, files in memory that they hold
 *  open (memfd), and file systems in memory that only they see. Code and libraries do not count. */
function memoryBytesOf(tree: readonly number[]): number {
  const pages = tree.reduce((sum, pid) => sum + residentBytes(pid), 0)
  return pages + sumBytes(memoryFilesOf(tree)) + privateFileSystemBytes(tree)
}

/** Counts each shared page once, which takes longer. */
function exactMemoryBytesOf(tree: readonly number[]): number {
  const files = memoryFilesOf(tree)
  const pages = tree.reduce((sum, pid) => sum + proportionalBytes(pid, files), 0)
  return pages + sumBytes(files) + privateFileSystemBytes(tree)
}

/** Returns the used processor time in milliseconds. */
export function cpuMsOf(tree: readonly number[]): number {
  return tree.reduce((sum, pid) => {
    // The program name in parentheses may contain anything.
    const fields = readProcFile(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? []
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tickMs
  }, 0)
}

/** Returns what a process tree uses too much of: memory, with its exact size, or processor time. */
export function findExcess(
  tree: readonly number[],
  limits: { memoryMb: number; cpuMs?: number | undefined; cpuMsAtStart: number },
): { kind: "memory"; usedMb: number } | { kind: "cpu" } | undefined {
  const { memoryMb, cpuMs = Number.POSITIVE_INFINITY, cpuMsAtStart } = limits
  // The exact size takes longer to measure, so it is measured only if the estimate is too large.
  const usedMb = memoryBytesOf(tree) > memoryMb * megabyte ? exactMemoryBytesOf(tree) / megabyte : 0
  if (usedMb > memoryMb) return { kind: "memory", usedMb }
  if (Number.isFinite(cpuMs) && cpuMsOf(tree) - cpuMsAtStart > cpuMs) return { kind: "cpu" }
  return undefined
}

export const megabyte = 1024 * 1024
// Linux counts processor time in hundredths of a second on all platforms of Node.
const tickMs = 10

function residentBytes(pid: number): number {
  const sizes = readProcFile(`/proc/${pid}/status`).matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm)
  return sizes.reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) * 1024
}

/** Returns the process's share of private and shared memory, without the memory files, which are counted separately. */
function proportionalBytes(pid: number, files: ReadonlyMap<string, number>): number {
  const mappings = readProcFile(`/proc/${pid}/smaps`)
  if (mappings === "") return residentBytes(pid)
  let kilobytes = 0
  let isCounted = false
  for (const line of mappings.split("\n")) {
    const [, device, inode, path = ""] = /^[\da-f]+-[\da-f]+ \S+ \S+ (\S+) (\d+) *(.*)/.exec(line) ?? []
    if (device !== undefined) {
      // Mapped disk files do not count. Anonymous memory and files in memory do.
      const isFile = path.startsWith("/") && !/^\/(?:memfd:|dev\/zero|SYSV)/.test(path)
      isCounted = !files.has(inode ?? "") && !isFile
    } else if (isCounted && line.startsWith("Pss:")) {
      kilobytes += Number(/\d+/.exec(line)?.[0] ?? 0)
    }
  }
  return kilobytes * 1024
}

/** Returns the sizes of open memory files by inode. Their pages need not be mapped. */
function memoryFilesOf(tree: readonly number[]): Map<string, number> {
  const files = new Map<string, number>()
  for (const pid of tree) {
    for (const name of listFolder(`/proc/${pid}/fd`)) {
      try {
        const path = `/proc/${pid}/fd/${name}`
        if (!readlinkSync(path).startsWith("/memfd:")) continue
        const { ino, blocks } = statSync(path)
        files.set(String(ino), blocks * 512)
      } catch {
        // The file was closed in the meantime.
      }
    }
  }
  return files
}

function sumBytes(files: ReadonlyMap<string, number>): number {
  return files.values().reduce((sum, bytes) => sum + bytes, 0)
}

/** Returns the used bytes of file systems in memory that only these processes see: those of their sandbox and of nested
 *  sandboxes. */
function privateFileSystemBytes(tree: readonly number[]): number {
  const ours = readLink("/proc/self/ns/mnt")
  const spaces = new Map(tree.map((pid) => [readLink(`/proc/${pid}/ns/mnt`), pid]))
  const used = new Map<string, number>()
  for (const [space, pid] of spaces) {
    if (space === "" || space === ours) continue
    const host = hostDevices()
    for (const { device, folder, type } of readMounts(`/proc/${pid}/mountinfo`)) {
      if (type !== "tmpfs" || host.has(device) || used.has(device)) continue
      const bytes = usedBytesAt(`/proc/${pid}/root${folder}`, device)
      if (bytes !== undefined) used.set(device, bytes)
    }
  }
  return sumBytes(used)
}

/** Returns the devices that the host has mounted. There may be thousands, so the list is read at most every 5 s. */
function hostDevices(): ReadonlySet<string> {
  if (Date.now() - host.readAt > 5_000) {
    host = { readAt: Date.now(), devices: new Set(readMounts("/proc/self/mountinfo").map(({ device }) => device)) }
  }
  return host.devices
}

let host: { readAt: number; devices: ReadonlySet<string> } = { readAt: 0, devices: new Set() }

/** Returns undefined if another device is mounted at the path, as happens while a sandbox is being set up. */
function usedBytesAt(folder: string, device: string): number | undefined {
  try {
    if (statSync(folder).dev !== deviceNumber(device)) return undefined
    const { blocks, bfree, bsize } = statfsSync(folder)
    return (blocks - bfree) * bsize
  } catch {
    return undefined
  }
}

/** Converts a device `major:minor` to the number that `stat` returns. */
function deviceNumber(device: string): number {
  const [major = 0, minor = 0] = device.split(":").map(Number)
  return (major << 8) | (minor & 0xff) | ((minor & ~0xff) << 12)
}

interface Mount {
  device: string
  folder: string
  type: string
}

function readMounts(file: string): Mount[] {
  const lines = readProcFile(file).split("\n").filter(Boolean)
  return lines.map((line) => {
    const [, , device = "", , folder = ""] = line.split(" ")
    const type = line.split(" - ")[1]?.split(" ")[0] ?? ""
    return {
      device,
      folder: folder.replaceAll(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))),
      type,
    }
  })
}

function listFolder(folder: string): string[] {
  return attempt(() => readdirSync(folder)) ?? []
}

function readLink(path: string): string {
  return attempt(() => readlinkSync(path)) ?? ""
}
