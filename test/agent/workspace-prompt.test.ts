import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { chmod, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import type { Workspace } from "../../src/workspaces/workspace.ts"
import { folderWith } from "../tools/use.ts"

async function promptOf(workspace: Workspace): Promise<string> {
  return (await createAgent({ model: scriptedModel([]), workspace }).describe()).split("# Workspace\n\n")[1] ?? ""
}

describe("the prompt of an agent with a workspace", () => {
  test("ends with the name of the folder and its entries, without the path", async (context) => {
    const workspace = await folderWith(context, { "src/deep/a.ts": "", "README.md": "", ".env": "" })
    const text = await promptOf(workspace)
    const name = basename(workspace.root)
    assert.equal(text, `Your workspace, the folder "${name}", contained at the start: .env, README.md, src/`)
    assert.doesNotMatch(text, /\/tmp/)
  })

  test("names at most 40 entries, and as many of a workspace that is no folder", async (context) => {
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index + 10}/a`, ""]))
    for (const workspace of [await folderWith(context, files), memoryWorkspace(files)]) {
      assert.match(await promptOf(workspace), /contained at the start: f10\/, .*f49\/, and 10 more$/)
    }
    assert.equal(await promptOf(memoryWorkspace()), "Your workspace was empty at the start.")
  })

  test("has the branch and the number of changed files of a git repository", async (context) => {
    const { root, ...workspace } = await folderWith(context, { "a.txt": "a", "b.txt": "b", ".gitignore": "ignored" })
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", root, "-c", "user.name=t", "-c", "user.email=t@t", ...args])
    git("init", "-q", "-b", "fix/it")
    git("add", ".")
    git("commit", "-qm", "first")
    const state = async () => /\((.*)\)/.exec(await promptOf({ ...workspace, root }))?.[1]
    assert.equal(await state(), "git branch fix/it, 0 changed files")
    await writeFile(join(root, "a.txt"), "other")
    await writeFile(join(root, "new.txt"), "")
    await writeFile(join(root, "ignored"), "")
    assert.equal(await state(), "git branch fix/it, 2 changed files")
    git("checkout", "-q", "--detach")
    assert.match((await state()) ?? "", /^git branch none, at [0-9a-f]{8}, 2 changed files$/)
  })

  test("starts no program that the settings of the repository name", async (context) => {
    const { root, ...workspace } = await folderWith(context, { "a.txt": "a", ".gitattributes": "* filter=evil\n" })
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", root, "-c", "user.name=t", "-c", "user.email=t@t", ...args])
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    await writeFile(join(root, "evil.sh"), `#!/bin/sh\ntouch "${root}/started"\ncat\n`)
    await chmod(join(root, "evil.sh"), 0o755)
    for (const key of ["filter.evil.clean", "core.fsmonitor"]) git("config", key, join(root, "evil.sh"))
    await writeFile(join(root, "a.txt"), "b")
    assert.match(await promptOf({ ...workspace, root }), /2 changed files/)
    assert.equal(existsSync(join(root, "started")), false)
  })

  test("says nothing where the workspace cannot be listed, and can be replaced", async () => {
    const broken: Workspace = {
      ...memoryWorkspace(),
      // biome-ignore lint/correctness/useYield: it fails first.
      async *list() {
        throw new Error("away")
      },
    }
    assert.equal(await promptOf(broken), "")
    const prompt = { workspace: () => "My files." }
    const agent = createAgent({ model: scriptedModel([]), workspace: memoryWorkspace(), prompt })
    assert.match(await agent.describe(), /My files\.$/)
  })

  test("stays the same in a resumed session, although the files have changed", async () => {
    const [archive, workspace] = [memoryStore(), memoryWorkspace({ a: "" })]
    const first = await createAgent({ model: scriptedModel(["1"]), workspace }).session({ archive })
    await first.send("one")
    await first.close()
    await workspace.write("b", "")
    const model = scriptedModel(["2"])
    await using again = await createAgent({ model, workspace }).session({ archive, resume: first.id })
    await again.send("two")
    assert.match(model.requests[0]?.system ?? "", /contained at the start: a$/)
  })
})
