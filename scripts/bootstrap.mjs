// Runs a file of this repository under the pinned Node, from whatever Node started it: `node scripts/bootstrap.mjs
// [--system] <file> [arguments]`. Installs first what is missing; with --system also the Debian packages for the tests.
// Builtins only and plain JavaScript, because nothing else is there yet.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const pinned = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node")
const needed = Number(/\d+/.exec(readJson("package.json").engines.node)[0])

const systemPackages = [
  "python3-ipykernel",
  "python3-pandas",
  "python3-matplotlib",
  "bubblewrap",
  "redis-server",
  "ripgrep",
  "tmux",
  "zsh",
  "fish",
]
// Large, so only where every test must run.
const largePackages = process.env.KARST_REQUIRE_ALL === "1" ? ["chromium"] : []

const withSystem = process.argv[2] === "--system"
const [file, ...args] = process.argv.slice(withSystem ? 3 : 2)
if (!file) fail("Usage: node scripts/bootstrap.mjs [--system] <file> [arguments]")
if (!isInstalled()) install()
if (withSystem) {
  installSystemPackages(systemPackages)
  // By itself: a Debian without it has the others.
  installSystemPackages(largePackages)
}
launch(chooseNode(), [file, ...args])

/** Whether every package of the lockfile is there, in its version. npm writes its own list last, so an installation
 *  that was cut short has none. */
function isInstalled() {
  const wanted = readJson("package-lock.json")?.packages ?? {}
  const found = readJson("node_modules/.package-lock.json")?.packages
  if (!found) return false
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === "" || optional) return true
    return found[path]?.version === version && existsSync(join(root, path, "package.json"))
  })
}

function install() {
  mayInstall("The dependencies are missing or out of date. Run: npm ci")
  say("installing dependencies (npm ci)")
  // A user's settings may leave out dev dependencies or refuse this Node; the scripts need the former and replace the
  // latter.
  const status = npm(["ci", "--include=dev", "--engine-strict=false", "--no-audit", "--no-fund"])
  if (status !== 0) fail("npm ci failed; its message is above. Check the network and run this again.")
}

/** Only root on Debian can: elsewhere, and where it fails, the tests that need them are skipped and say so. */
function installSystemPackages(names) {
  if (names.length === 0 || process.env.KARST_NO_INSTALL === "1" || process.getuid?.() !== 0) return
  const missing = missingSystemPackages(names)
  if (missing.length === 0) return
  const list = missing.join(" ")
  say(`installing ${list} (apt-get; KARST_NO_INSTALL=1 forbids it)`)
  // Packages cannot be found where the lists are missing or old, and fetching those takes long: only when needed.
  const install = () => apt("install", "-y", "--no-install-recommends", ...missing)
  let problem = install()
  if (problem !== undefined) {
    apt("update")
    problem = install()
  }
  if (problem !== undefined) say(`apt-get install ${list} failed, so the tests that need them are skipped:\n${problem}`)
}

/** What apt-get complains of; undefined when all is well. */
function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  // Another installation may be under way: wait for it.
  const options = ["-o", "DPkg::Lock::Timeout=300"]
  const stdio = ["ignore", "ignore", "pipe"]
  const { error, status, stderr } = spawnSync("apt-get", [...options, ...args], { env, stdio, encoding: "utf8" })
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}

function missingSystemPackages(names) {
  const query = ["-W", "-f", "${Package} ${db:Status-Status}\n", ...names]
  const { error, stdout } = spawnSync("dpkg-query", query, { encoding: "utf8" })
  if (error) return []
  const installed = stdout.split("\n")
  return names.filter((name) => !installed.includes(`${name} installed`))
}

function chooseNode() {
  if (existsSync(pinned)) return pinned
  if (isRecent()) return process.execPath
  mayInstall(sorry())
  say(`installing Node ${needed}`)
  // npm may refuse to run install scripts, so this one, which fetches the binary, is run by hand.
  run(process.execPath, ["installArchSpecificPackage.js"], join(root, "node_modules", "node"))
  if (!existsSync(pinned)) fail(sorry())
  return pinned
}

function launch(node, args) {
  const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]
  const child = spawn(node, [...flags, ...args], { stdio: "inherit" })
  const forward = (signal) => {
    // A terminal sends Ctrl-C to the child too; a second one from here would pass for the user's impatience.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, forward)
  child.on("error", () => {
    // The pinned binary does not start on every system; a recent Node of the user's own does as well.
    if (node === process.execPath || !isRecent()) fail(sorry())
    launch(process.execPath, args)
  })
  child.on("exit", (code, signal) => {
    if (!signal) process.exit(code)
    process.off(signal, forward)
    process.kill(process.pid, signal)
  })
}

function npm(args) {
  const cli = process.env.npm_execpath
  if (cli?.endsWith(".js")) return run(process.execPath, [cli, ...args])
  return run("npm", args)
}

// Output goes unseen unless it is an error: on an older Node every package warns of its engine.
function run(command, args, cwd = root) {
  const env = { ...process.env, npm_config_loglevel: "error", npm_config_update_notifier: "false" }
  return spawnSync(command, args, {
    cwd,
    env,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  }).status
}

function mayInstall(otherwise) {
  if (process.env.KARST_NO_INSTALL === "1") fail(otherwise)
}

function sorry() {
  return `Karst needs Node ${needed} or newer; this is ${process.version}, and the pinned one could not be used. Install Node ${needed} and run this again.`
}

function isRecent() {
  return Number(process.versions.node.split(".")[0]) >= needed
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), "utf8"))
  } catch {
    return undefined
  }
}

function say(text) {
  process.stderr.write(`karst: ${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(1)
}
