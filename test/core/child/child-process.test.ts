import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { after, before, describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { runProgram } from "../../../src/core/child/child-process.ts"
import { requires, type SystemPart } from "../../system.ts"

const kinds: [kind: string, ...parts: SystemPart[]][] = [
  ["program"],
  ["fork"],
  ["process"],
  ["process with os", "bwrap"],
  ["python", "python"],
  ["python with os", "python", "bwrap"],
  ["shell"],
  ["shell with os", "bwrap"],
  ["coding CLI"],
  ["terminal CLI", "node-pty"],
  ["MCP server"],
  ["rule checker", "python"],
  ["interpreter", "python"],
  ["ripgrep"],
]

describe("a host that holds descriptors without close-on-exec", { skip: process.platform !== "linux" }, () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "karst-descriptors-")))
  const secret = join(folder, "secret.txt")
  const found = new Map<string, string>()

  before(async () => {
    writeFileSync(secret, "secret")
    const program = fileURLToPath(new URL("../../fixtures/descriptor-host.ts", import.meta.url))
    const wanted = kinds.filter(([, ...parts]) => requires(...parts) === undefined).map(([kind]) => kind)
    const [file, directory] = [openSync(secret, "r"), openSync(folder, "r")]
    const stdio = ["ignore", "pipe", "inherit", ...Array.from({ length: 97 }, () => "ignore")] as ("ignore" | number)[]
    stdio[51] = file
    stdio[99] = directory
    const host = spawn(process.execPath, ["--no-warnings", program, folder, "direct", ...wanted], {
      stdio,
      cwd: folder,
    })
    closeSync(file)
    closeSync(directory)
    assert.ok(host.stdout)
    for (const line of (await text(host.stdout)).trim().split("\n")) {
      const { kind, found: descriptors }: { kind: string; found: string } = JSON.parse(line)
      found.set(kind, descriptors)
    }
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** The descriptors that point to the file or pipe of the host. */
  const leaked = (kind: string) =>
    [...(found.get(kind) ?? "").matchAll(/(\d+) -> (\S+)/g)]
      .filter(([, number = "", target = ""]) => Number(number) > 3 && (target === secret || target === folder))
      .map(([, number]) => number)

  test("hands them to a child that Node starts by itself", () => {
    assert.deepEqual(leaked("direct").sort(), ["51", "99"])
  })

  for (const [kind, ...parts] of kinds) {
    test(`hands none of them to a child of the kind: ${kind}`, { skip: requires(...parts) }, () => {
      assert.match(found.get(kind) ?? "", /0 -> /)
      assert.deepEqual(leaked(kind), [])
    })
  }
})

describe("a program that is run to its end", () => {
  test("gives what it wrote", async () => {
    assert.deepEqual(await runProgram("/bin/sh", ["-c", "echo out; echo err >&2"]), {
      stdout: "out\n",
      stderr: "err\n",
    })
  })

  test("fails with its exit code and what it wrote as an error", async () => {
    const failure = { code: 3, stderr: "why\n", message: "/bin/sh failed (3): why" }
    await assert.rejects(runProgram("/bin/sh", ["-c", "echo why >&2; exit 3"]), failure)
  })

  test("fails with the system's code where there is no such program", async () => {
    await assert.rejects(runProgram("/no/such/program", []), { code: "ENOENT" })
  })

  test("is ended when it takes too long", async () => {
    await assert.rejects(runProgram("/bin/sleep", ["60"], { timeoutMs: 50 }), { code: null })
  })
})
