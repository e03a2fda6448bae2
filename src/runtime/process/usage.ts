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
    // A process may end meanwhile. Only Linux has these files.
    return []
  }
}

/** The bytes of memory that processes use, estimated from above: their own pages, memory that they share, files in
 *  memory that they hold open (memfd), and file systems in memory that only they see. Code and libraries are not
 *  counted. */
export function memoryOf(tree: readonly number[]): number {
  const pages = tree.reduce((sum, pid) => sum + residentBytes(pid), 0)
  return pages + total(filesInMemory(tree)) + ownFileSystems(tree)
}

/** The same with each page counted once, which takes longer. */
export function exactMemoryOf(tree: readonly number[]): number {
  const files = filesInMemory(tree)
  const pages = tree.reduce((sum, pid) => sum + proportionalBytes(pid, files), 0)
  return pages + total(files) + ownFileSystems(tree)
}

/** The processor time that processes have used, in milliseconds. */
export function cpuMsOf(tree: readonly number[]): number {
  return tree.reduce((sum, pid) => {
    // The name, in parentheses, may hold anything.
    const fields = read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? []
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tickMs
  }, 0)
}

// Linux counts processor time in hundredths of a second on every machine that Node runs on.
const tickMs = 10

function residentBytes(pid: number): number {
  const sizes = read(`/proc/${pid}/status`).matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm)
  return sizes.reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) * 1024
}

/** Its share of its own pages and of shared memory, without the files that are counted by themselves. */
function proportionalBytes(pid: number, files: ReadonlyMap<string, number>): number {
  const mappings = read(`/proc/${pid}/smaps`)
  if (mappings === "") return residentBytes(pid)
  let kilobytes = 0
  let isCounted = false
  for (const line of mappings.split("\n")) {
    const [, device, inode, path = ""] = /^[\da-f]+-[\da-f]+ \S+ \S+ (\S+) (\d+) *(.*)/.exec(line) ?? []
    if (device !== undefined) {
      // Mapped files of a disk do not count. Memory without a file does, and so do files in memory.
      const isFile = path.startsWith("/") && !/^\/(?:memfd:|dev\/zero|SYSV)/.test(path)
      isCounted = !files.has(inode ?? "") && !isFile
    } else if (isCounted && line.startsWith("Pss:")) {
      kilobytes += Number(/\d+/.exec(line)?.[0] ?? 0)
    }
  }
  return kilobytes * 1024
}

/** The files in memory that processes hold open, with the bytes of each, by inode. A page of one need not be mapped. */
function filesInMemory(tree: readonly number[]): Map<string, number> {
  const files = new Map<string, number>()
  for (const pid of tree) {
    for (const name of namesIn(`/proc/${pid}/fd`)) {
      try {
        const path = `/proc/${pid}/fd/${name}`
        if (!readlinkSync(path).startsWith("/memfd:")) continue
        const { ino, blocks } = statSync(path)
        files.set(String(ino), blocks * 512)
      } catch {
        // The file was closed meanwhile.
      }
    }
  }
  return files
}

function total(files: ReadonlyMap<string, number>): number {
  return files.values().reduce((sum, bytes) => sum + bytes, 0)
}

/** The bytes used in file systems in memory that only a sandbox sees. */
function ownFileSystems(tree: readonly number[]): number {
  const inside = tree.at(-1)
  if (inside === undefined) return 0
  return ownMounts(inside).reduce((sum, folder) => {
    try {
      const { blocks, bfree, bsize } = statfsSync(`/proc/${inside}/root${folder}`)
      return sum + (blocks - bfree) * bsize
    } catch {
      return sum
    }
  }, 0)
}

function ownMounts(pid: number): string[] {
  const space = linkOf(`/proc/${pid}/ns/mnt`)
  if (space === "" || space === linkOf("/proc/self/ns/mnt")) return []
  const known = mountsOf.get(space)
  if (known) return known
  const ours = new Set(mounts("/proc/self/mountinfo").map(({ device }) => device))
  const found = mounts(`/proc/${pid}/mountinfo`).filter(({ device, type }) => type === "tmpfs" && !ours.has(device))
  const folders = new Map(found.map(({ device, folder }) => [device, folder]))
  // Bubblewrap creates its mounts and then enters them: the list is remembered only when it is complete.
  if (folders.size > 0 && found.some(({ folder }) => folder === "/tmp")) mountsOf.set(space, [...folders.values()])
  if (mountsOf.size > 1000) mountsOf.clear()
  return [...folders.values()]
}

const mountsOf = new Map<string, string[]>()

interface Mount {
  device: string
  folder: string
  type: string
}

function mounts(file: string): Mount[] {
  const lines = read(file).split("\n").filter(Boolean)
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

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ""
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "latin1")
  } catch {
    // The process has ended, or is another user's.
    return ""
  }
}
