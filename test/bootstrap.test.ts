import assert from "node:assert/strict"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import type { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { afterEach, beforeEach, describe, test } from "node:test"

// A repository in small: the real script, one locked package, and an npm that each test writes for itself.
let tree: string

beforeEach(() => {
  tree = mkdtempSync(join(realpathSync(tmpdir()), "karst-bootstrap-"))
  write("scripts/bootstrap.mjs", readFileSync(join(dirname(import.meta.dirname), "scripts/bootstrap.mjs"), "utf8"))
  write("package.json", '{ "engines": { "node": ">=24" } }')
  write("package-lock.json", lock("1.0.0"))
})

afterEach(() => rmSync(tree, { recursive: true }))

describe("the bootstrap", () => {
  test("runs a file with its arguments under the pinned Node and passes on the exit code", async () => {
    installed()
    pinNode()
    const program = "console.log(process.execPath, process.argv.slice(2)); process.exit(7)"
    const { code, stdout, stderr } = await finished(start(program, { args: ["a", "--b c"] }))
    assert.equal(stdout, `${join(tree, "node_modules/node/bin/node")} [ 'a', '--b c' ]\n`)
    assert.deepEqual([code, stderr], [7, ""])
  })

  test("installs what is missing first, says so in one line and shows nothing of npm but its errors", async () => {
    write("npm.js", "console.log('added 1 package'); console.error(process.argv[2], process.env.npm_config_loglevel)")
    const { code, stdout, stderr } = await finished(start("console.log('ran')"))
    assert.deepEqual([code, stdout], [0, "ran\n"])
    assert.equal(stderr, "karst: installing dependencies (npm ci)\nci error\n")
  })

  const spoilt: Record<string, () => void> = {
    "a package is gone": () => rmSync(join(tree, "node_modules/dep"), { recursive: true }),
    "the lockfile asks for another version": () => write("package-lock.json", lock("2.0.0")),
    "npm was cut short": () => rmSync(join(tree, "node_modules/.package-lock.json")),
  }
  for (const [what, spoil] of Object.entries(spoilt)) {
    test(`installs again when ${what}, and not otherwise`, async () => {
      installed()
      write("npm.js", "")
      assert.equal((await finished(start(""))).stderr, "")
      spoil()
      assert.match((await finished(start(""))).stderr, /installing dependencies/)
    })
  }

  test("stops with a sentence when the installation fails", async () => {
    write("npm.js", "process.exit(3)")
    const { code, stdout, stderr } = await finished(start("console.log('ran')"))
    assert.deepEqual([code, stdout], [1, ""])
    assert.match(stderr, /npm ci failed/)
  })

  test("installs nothing when that is forbidden, and says what to do", async () => {
    const { code, stderr } = await finished(start("", { env: { KARST_NO_INSTALL: "1" } }))
    assert.deepEqual([code, stderr], [1, "karst: The dependencies are missing or out of date. Run: npm ci\n"])
  })

  test("fetches the pinned Node by its own script where npm did not", async () => {
    installed()
    write("package.json", '{ "engines": { "node": ">=99" } }')
    const link = `fs.symlinkSync(${JSON.stringify(process.execPath)}, "bin/node")`
    write("node_modules/node/installArchSpecificPackage.js", `fs = require("fs"); fs.mkdirSync("bin"); ${link}`)
    const { code, stdout, stderr } = await finished(start("console.log('ran')"))
    assert.deepEqual([code, stdout, stderr], [0, "ran\n", "karst: installing Node 99\n"])
  })

  test("tells a Node that is too old and cannot be replaced so, in one sentence", async () => {
    installed()
    write("package.json", '{ "engines": { "node": ">=99" } }')
    const { code, stderr } = await finished(start("", { env: { KARST_NO_INSTALL: "1" } }))
    assert.equal(code, 1)
    assert.match(stderr, /^karst: Karst needs Node 99 or newer; this is v[\d.]+, and .* Install Node 99 .*\n$/)
  })

  test("uses the Node it was started with where the pinned one does not start", async () => {
    installed()
    write("node_modules/node/bin/node", "not a program")
    const { stdout } = await finished(start("console.log(process.execPath)"))
    assert.equal(stdout, `${process.execPath}\n`)
  })

  describe("with --system", () => {
    test("installs the Debian packages that are missing, says so in one line and shows nothing of apt-get", async () => {
      debian(["python3-pandas", "bubblewrap", "redis-server", "ripgrep", "tmux", "zsh", "fish"])
      const { code, stdout, stderr } = await finished(startSystem())
      assert.deepEqual([code, stdout], [0, "ran\n"])
      assert.match(stderr, /^karst: installing python3-ipykernel python3-matplotlib \(apt-get; [^\n]*\)\n$/)
      const install =
        "-o DPkg::Lock::Timeout=300 install -y --no-install-recommends python3-ipykernel python3-matplotlib"
      assert.equal(asked(), `${install}\n`)
    })

    test("fetches the package lists when the first try fails, and tries again", async () => {
      debian([], "grep -q update apt.log")
      assert.equal((await finished(startSystem())).stdout, "ran\n")
      assert.match(asked(), /install .*\n.* update\n.* install .*\n$/)
    })

    test("goes on where apt-get fails, and shows why", async () => {
      debian([], "echo 'E: no network' >&2; false")
      const { code, stdout, stderr } = await finished(startSystem())
      assert.deepEqual([code, stdout], [0, "ran\n"])
      assert.match(stderr, /apt-get install .* failed, so the tests that need them are skipped:\nE: no network\n$/)
    })

    test("installs Chromium only where every test must run, and apart from the other packages", async () => {
      debian(everyPackage)
      const { stdout, stderr } = await finished(startSystem({ env: { KARST_REQUIRE_ALL: "1" } }))
      assert.equal(stdout, "ran\n")
      assert.match(stderr, /^karst: installing chromium \(apt-get; [^\n]*\)\n$/)
      assert.equal(asked(), "-o DPkg::Lock::Timeout=300 install -y --no-install-recommends chromium\n")
      debian([], "! echo $@ | grep -q chromium")
      const failed = await finished(startSystem({ env: { KARST_REQUIRE_ALL: "1" } }))
      assert.match(asked(), /^.* install .* python3-ipykernel .*\n.* install .* chromium\n/)
      assert.match(failed.stderr, /apt-get install chromium failed, so the tests that need them are skipped/)
      assert.equal(failed.stdout, "ran\n")
    })

    const unasked: Record<string, () => Start> = {
      "everything is there": () => {
        debian(everyPackage)
        return {}
      },
      "it is forbidden": () => {
        debian([])
        return { env: { KARST_NO_INSTALL: "1" } }
      },
      "the user is not root": () => {
        debian([], "true", 1000)
        return {}
      },
    }
    for (const [why, prepare] of Object.entries(unasked)) {
      test(`leaves the system alone when ${why}`, async () => {
        const { stdout, stderr } = await finished(startSystem(prepare()))
        assert.deepEqual([stdout, stderr, asked()], ["ran\n", "", ""])
      })
    }

    test("is what npm test asks for, and npm start does not", () => {
      const { scripts } = JSON.parse(readFileSync(join(dirname(import.meta.dirname), "package.json"), "utf8"))
      assert.match(scripts.test, /--system/)
      assert.doesNotMatch(scripts.start, /--system/)
    })
  })

  test("hands a signal on and waits for what the program makes of it", async () => {
    installed()
    const child = start(
      "process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000); console.log('ready')",
    )
    await once(child.stdout, "data")
    child.kill("SIGTERM")
    assert.deepEqual(await once(child, "exit"), [5, null])
  })

  test("ends by the signal that ended the program", async () => {
    installed()
    assert.deepEqual(await once(start("process.kill(process.pid, 'SIGKILL')"), "exit"), [null, "SIGKILL"])
  })
})

const everyPackage = [
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

interface Start {
  args?: string[]
  env?: Record<string, string>
  flags?: string[]
}

type Child = ChildProcessByStdio<null, Readable, Readable>

function start(program: string, { args = [], env = {}, flags = [] }: Start = {}): Child {
  write("program.ts", program)
  return spawn(process.execPath, [join(tree, "scripts/bootstrap.mjs"), ...flags, join(tree, "program.ts"), ...args], {
    cwd: tree,
    env: { ...process.env, KARST_NO_INSTALL: "", KARST_REQUIRE_ALL: "", npm_execpath: join(tree, "npm.js"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
}

function startSystem({ env = {} }: Start = {}): Child {
  installed()
  const system = { PATH: `${join(tree, "bin")}${delimiter}${process.env.PATH}`, NODE_OPTIONS: "--import=./user.mjs" }
  return start("console.log('ran')", { flags: ["--system"], env: { ...system, ...env } })
}

/** A Debian in small: what it has installed, what its apt-get does beside writing down its arguments, who the user
 *  is. */
function debian(packages: string[], aptGet = "true", user = 0): void {
  const lines = packages.map((name) => `echo ${name} installed`)
  write("bin/dpkg-query", ["#!/bin/sh", ...lines, "exit 1"].join("\n"))
  write("bin/apt-get", `#!/bin/sh\necho "$@" >> apt.log\n${aptGet}\n`)
  for (const name of ["dpkg-query", "apt-get"]) chmodSync(join(tree, "bin", name), 0o755)
  write("user.mjs", `process.getuid = () => ${user}`)
  write("apt.log", "")
}

function asked(): string {
  return readFileSync(join(tree, "apt.log"), "utf8")
}

async function finished(child: Child) {
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  return { stdout, stderr, code }
}

function installed(): void {
  write("node_modules/dep/package.json", "{}")
  write("node_modules/.package-lock.json", lock("1.0.0"))
}

function pinNode(): void {
  mkdirSync(join(tree, "node_modules/node/bin"), { recursive: true })
  // A link would be resolved and so hide which path was run; the same file under a second name is not.
  copyFileSync(process.execPath, join(tree, "node_modules/node/bin/node"), constants.COPYFILE_FICLONE)
}

function lock(version: string): string {
  return JSON.stringify({ packages: { "": {}, "node_modules/dep": { version } } })
}

function write(path: string, content: string): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true })
  writeFileSync(join(tree, path), content)
}

test("the lockfile has an entry for every optional package it names, so that a fresh clone installs", () => {
  const locked: { packages: Record<string, { optionalDependencies?: Record<string, string> }> } = JSON.parse(
    readFileSync(join(dirname(import.meta.dirname), "package-lock.json"), "utf8"),
  )
  const missing = Object.entries(locked.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(path, name)),
  )
  assert.deepEqual(missing, [])

  function isLocked(path: string, name: string): boolean {
    const own = path === "" ? [] : [`${path}/node_modules/${name}`]
    return [...own, `node_modules/${name}`].some((key) => key in locked.packages)
  }
})
