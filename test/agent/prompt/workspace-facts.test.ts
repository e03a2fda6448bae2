import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { localWorkspace } from "karst/workspaces"
import { lookAtWorkspace } from "../../../src/agent/prompt/workspace-facts.ts"

describe("the facts about a workspace in the prompt", () => {
  const files: [what: string, create: (root: string) => Promise<unknown>][] = [
    ["a pipe as .git", async (root) => execFileSync("mkfifo", [join(root, ".git")])],
    ["a device as .git", (root) => symlink("/dev/zero", join(root, ".git"))],
    ["a pipe as the HEAD of git", async (root) => execFileSync("mkfifo", [await gitFolder(root, "HEAD")])],
    ["a device as the HEAD of git", async (root) => symlink("/dev/zero", await gitFolder(root, "HEAD"))],
  ]
  for (const [what, create] of files) {
    test(`do not wait for ${what}, and have no state of git`, async (t) => {
      const root = await mkdtemp(join(tmpdir(), "karst-facts-"))
      t.after(() => rm(root, { recursive: true }))
      await writeFile(join(root, "a.txt"), "x")
      await create(root)
      const facts = await lookAtWorkspace(localWorkspace(root))
      assert.deepEqual([facts?.entries.includes("a.txt"), facts?.git], [true, undefined])
    })
  }
})

async function gitFolder(root: string, file: string): Promise<string> {
  await mkdir(join(root, ".git"))
  return join(root, ".git", file)
}
