import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { chmod, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { readRegularFile } from "../../src/core/read-regular-file.ts"

test("readRegularFile reads files up to the limit, and refuses anything else at once", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "karst-read-"))
  t.after(() => rm(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  await writeFile(at("small"), "12345")
  await writeFile(at("empty"), "")
  await writeFile(at("huge"), "")
  await truncate(at("huge"), 3_000_000_000)
  execFileSync("mkfifo", [at("pipe")])
  await symlink(at("circle"), at("circle"))
  const read = async (path: string, maxBytes = 5) => {
    const found = await readRegularFile(path, maxBytes)
    return "problem" in found ? found.problem : found.bytes.toString()
  }
  assert.equal(await read(at("small")), "12345")
  assert.equal(await read(at("small"), 4), "has 5 bytes; the most is 4")
  assert.equal(await read(at("empty")), "")
  assert.equal(await read(at("huge")), "has 3000000000 bytes; the most is 5")
  assert.match(await read(at("pipe")), /^is not a file, but a pipe or a device/)
  assert.match(await read("/dev/zero"), /^is not a file, but a pipe or a device/)
  assert.equal(await read(folder), "is not a file, but a folder")
  assert.equal(await read(at("circle")), "is a link that leads to itself")
  assert.equal(await read(at("gone")), "is not there")
  // Files of the system say that they have no bytes.
  assert.match(await read("/proc/self/status", 100_000), /^Name:/)
  assert.equal(await read("/proc/self/status", 10), "has more than 10 bytes")
})

const isRoot = process.getuid?.() === 0

test("readRegularFile says that a file may not be read", {
  skip: isRoot && "by design: the user root can read everything",
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "karst-read-"))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, "locked"), "")
  await chmod(join(folder, "locked"), 0)
  assert.deepEqual(await readRegularFile(join(folder, "locked"), 5), { problem: "may not be read by this user" })
})
