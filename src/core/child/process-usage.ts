import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from "node:fs"

/** A process and all below it, each before its children; `most` of them. In a sandbox with processes of its own this is
 *  everything that runs in it: a process that loses its parent becomes a child of the first one there. Elsewhere a
 *  process that leaves its parent is not found. */
export function processTree(pid: number, most: number): number[] {
  const found: number[] = []
  const next = [pid]
  while (next.length > 0 && found.length < most) {
    const each = next.pop() ?? 0
    found.push(each)
    next.push(...childrenOf(each).reverse())
  }
  return found
}

function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1"))
    return lists.join(" ").split(" ").filter(Boolean).map(Number)
  } catch {
    // A process may end while it is looked at; elsewhere than on Linux there is nothing to look at.
    return []
  }
}

/** The bytes of memory that processes use, not less than it is: their own pages, memory that they share, files in memory
 *  that they hold open (memfd), and file systems in memory that only they see. Code and libraries are the machine's. */
export function memoryBytesOf(tree: readonly number[]): number {
  const pages = tree.reduce((sum, pid) => sum + residentBytes(pid), 0)
  return pages + sumBytes(memoryFilesOf(tree)) + privateFileSystemBytes(tree)
}

/** The same with each page counted once, which takes longer. */
export function exactMemoryBytesOf(tree: readonly number[]): number {
  const files = memoryFilesOf(tree)
  const pages = tree.reduce((sum, pid) => sum + proportionalBytes(pid, files), 0)
  return pages + sumBytes(files) + privateFileSystemBytes(tree)
}

/** The processor time that processes have used, in milliseconds. */
export function cpuMsOf(tree: readonly number[]): number {
  return tree.reduce((sum, pid) => {
    // The name, in parentheses, may hold anything.
    const fields = readProcFile(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? []
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tickMs
  }, 0)
}

// Linux counts processor time in hundredths of a second on every machine that Node runs on.
const tickMs = 10

function residentBytes(pid: number): number {
  const sizes = readProcFile(`/proc/${pid}/status`).matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm)
  return sizes.reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) * 1024
}

/** Its share of its own pages and of shared memory, without the files that are counted by themselves. */
function proportionalBytes(pid: number, files: ReadonlyMap<string, number>): number {
  const mappings = readProcFile(`/proc/${pid}/smaps`)
  if (mappings === "") return residentBytes(pid)
  let kilobytes = 0
  let isCounted = false
  for (const line of mappings.split("\n")) {
    const [, device, inode, path = ""] = /^[\da-f]+-[\da-f]+ \S+ \S+ (\S+) (\d+) *(.*)/.exec(line) ?? []
    if (device !== undefined) {
      // Files of the disk are the machine's; what has no file, and files in memory, are its own.
      const isFile = path.startsWith("/") && !/^\/(?:memfd:|dev\/zero|SYSV)/.test(path)
      isCounted = !files.has(inode ?? "") && !isFile
    } else if (isCounted && line.startsWith("Pss:")) {
      kilobytes += Number(/\d+/.exec(line)?.[0] ?? 0)
    }
  }
  return kilobytes * 1024
}

/** The files in memory that processes hold open, with the bytes of each, by inode. A page of one need not be mapped. */
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
        // It was closed while it was looked at.
      }
    }
  }
  return files
}

function sumBytes(files: ReadonlyMap<string, number>): number {
  return files.values().reduce((sum, bytes) => sum + bytes, 0)
}

/** What is used of file systems in memory that only these processes see: those of their sandbox, and those that they have
 *  mounted themselves in another sandbox inside it. */
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

/** The devices that the host itself has mounted. There may be thousands, so they are read once in a while. */
function hostDevices(): ReadonlySet<string> {
  if (Date.now() - host.readAt > 5_000) {
    host = { readAt: Date.now(), devices: new Set(readMounts("/proc/self/mountinfo").map(({ device }) => device)) }
  }
  return host.devices
}

let host: { readAt: number; devices: ReadonlySet<string> } = { readAt: 0, devices: new Set() }

/** The bytes that are used there; undefined where the path is that of another folder, as it is while a sandbox is made. */
function usedBytesAt(folder: string, device: string): number | undefined {
  try {
    if (statSync(folder).dev !== deviceNumber(device)) return undefined
    const { blocks, bfree, bsize } = statfsSync(folder)
    return (blocks - bfree) * bsize
  } catch {
    return undefined
  }
}

/** A device `major:minor` as `stat` tells it. */
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
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ""
  }
}

function readProcFile(file: string): string {
  try {
    return readFileSync(file, "latin1")
  } catch {
    // The process has ended, or is another user's.
    return ""
  }
}
