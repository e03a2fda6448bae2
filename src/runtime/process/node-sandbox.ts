// The bubblewrap sandbox of a process runtime's child: Node, Karst and the files that the options list.
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { bubblewrapCommand, nodeMounts, realPathOf, systemMounts, tmpfsMount } from "../../core/child/bubblewrap.ts"

export interface NodeSandboxOptions {
  /** Node and its flags. */
  node: readonly string[]
  entry: string
  cwd: string
  /** The size of a working directory in memory, which is mounted at `cwd`. Undefined: the real folder is used. */
  scratchMb: number | undefined
  read: readonly string[]
  write: readonly string[]
  network: "none" | "all"
  env: Record<string, string>
  cache: string | undefined
}

export function nodeSandboxCommand(options: NodeSandboxOptions): string[] {
  const { entry, cwd, scratchMb, network, env } = options
  const [binary = process.execPath, ...flags] = options.node
  const cache = options.cache === undefined ? [] : [options.cache]
  const karst = karstPaths()
  const readOnly = [...cache, ...options.read.map(realPathOf)]
  const write = options.write.map(realPathOf)
  const writable = [cwd, ...write]
  const mounts = [
    ...[...systemMounts, ...nodeMounts(binary)],
    ...karst.flatMap((path) => ["--ro-bind", realPathOf(path), path]),
    ...(network === "all" ? resolverFiles.flatMap((path) => ["--ro-bind-try", path, path]) : []),
    ...readOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...(scratchMb === undefined ? ["--bind", cwd, cwd] : tmpfsMount(cwd, scratchMb)),
    ...write.flatMap((path) => ["--bind", path, path]),
  ]
  const command = [
    binary,
    ...flags,
    // A second layer: Node's permissions refuse child processes, threads and native code, and check the same files.
    "--permission",
    ...[...karst, ...readOnly, ...writable, "/proc"].map((path) => `--allow-fs-read=${path}`),
    // Node reads a cache only if it may write there. The mount is read-only nevertheless.
    ...[...writable, ...cache].map((path) => `--allow-fs-write=${path}`),
    // Imported, because with these flags Node would first try to run the entry as a script.
    ...["--import", pathToFileURL(entry).href, "--eval", "0"],
  ]
  return bubblewrapCommand({ network, mounts, cwd, env, command })
}

/** Returns the paths of Karst's own modules and of the two packages that its compiler needs. */
function karstPaths(): string[] {
  const source = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "")
  const root = dirname(source)
  const packages = ["acorn", "@sveltejs/acorn-typescript"].flatMap((name) => {
    const folders = ancestors(root).map((folder) => join(folder, "node_modules", name))
    return folders.find((folder) => existsSync(folder)) ?? []
  })
  return [source, join(root, "package.json"), ...packages]
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...ancestors(parent)]
}

const resolverFiles = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/ssl/certs",
  "/usr/share/ca-certificates",
]
