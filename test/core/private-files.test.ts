import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, before, describe, test } from "node:test"
import { createAgent, jsRuntime, tool } from "karst"
import { suite } from "karst/evals"
import { recordModel, scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"
import { localWorkspace } from "karst/workspaces"
import { createGeminiHome } from "../../src/providers/gemini/gemini-home.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``
const agent = () =>
  createAgent({ model: scriptedModel([cell("const secret = 'token'; secret"), "Done."]), runtime: () => jsRuntime() })

/** Every function that writes files below a folder. */
const writers: [what: string, write: (folder: string) => Promise<unknown>, atLeast: string[]][] = [
  [
    "the archive of a session",
    async (folder) => {
      await using session = await agent().session({ archive: join(folder, "a/.karst") })
      await session.send("Keep it")
    },
    ["events.jsonl", "session.json", "snapshot.bin", "recording.jsonl", ".lock"],
  ],
  [
    "an artifact of a session",
    async (folder) => {
      const long = tool({ name: "long", description: "", run: () => "secret ".repeat(2000) })
      const model = scriptedModel([[{ type: "tool-call", id: "1", name: "long", input: {} }], "Done."])
      await using session = await createAgent({ model, tools: [long], noTool: "answer" }).session({ archive: folder })
      await session.send("Keep it")
    },
    ["_output_1.json"],
  ],
  [
    "a session that is saved to a file",
    async (folder) => {
      await using session = await agent().session()
      await session.send("Keep it")
      await session.save(join(folder, "saved/session.json"))
    },
    ["session.json"],
  ],
  [
    "the recording of a model",
    async (folder) => {
      const model = recordModel(scriptedModel(["Hello."]), join(folder, "recordings/run.jsonl"))
      await createAgent({ model, runtime: () => jsRuntime() }).run("Go")
    },
    ["run.jsonl"],
  ],
  [
    "a SQLite database, with its log and index",
    async (folder) => {
      const store = sqliteStore(join(folder, "db/karst.db"))
      await store.commit([{ type: "put", key: "a", value: 1 }])
      // SQLite removes these files when the last connection closes.
      return () => store.close()
    },
    ["karst.db", "karst.db-wal", "karst.db-shm"],
  ],
  [
    "the report of an evaluation",
    async (folder) => {
      const { save } = await suite([{ name: "one", prompt: "Go", agent: agent() }], { any: () => 1 })
      await save(join(folder, "reports/report.json"))
    },
    ["report.json"],
  ],
  [
    "logs in a workspace",
    async (folder) => {
      const workspace = localWorkspace(folder)
      await workspace.write(".karst/commands/c1.log", "secret")
    },
    ["c1.log"],
  ],
  [
    "the home of Gemini CLI for one turn",
    async (folder) => {
      const within = await mkdtemp(join(folder, "karst-cli-"))
      await mkdir(join(folder, "user"), { mode: 0o700 })
      const home = await createGeminiHome({ HOME: join(folder, "user") }, { a: 1 }, within)
      return () => home.close()
    },
    ["settings.json", "tmp"],
  ],
]

for (const umask of [0o000, 0o022]) {
  describe(`with a umask of ${umask.toString(8).padStart(3, "0")}, for the owner alone is`, () => {
    let earlier: number
    before(() => {
      earlier = process.umask(umask)
    })
    after(() => void process.umask(earlier))

    for (const [what, write, atLeast] of writers) {
      test(what, async (t) => {
        const folder = await mkdtemp(join(tmpdir(), "karst-private-"))
        t.after(() => rm(folder, { recursive: true, force: true }))
        const end = await write(folder)
        const entries = await readdir(folder, { recursive: true, withFileTypes: true })
        for (const name of atLeast)
          assert.ok(
            entries.some((entry) => entry.name === name),
            `${name} is there`,
          )
        for (const entry of entries.filter((each) => !each.isSymbolicLink())) {
          const path = join(entry.parentPath, entry.name)
          const { mode } = await stat(path)
          assert.equal((mode & 0o777).toString(8), entry.isDirectory() ? "700" : "600", path)
        }
        if (typeof end === "function") await end()
      })
    }
  })
}

describe("a file or folder that exists", () => {
  test("keeps the mode that its owner gave it", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "karst-private-"))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const shared = join(folder, "shared")
    await mkdir(shared)
    await chmod(shared, 0o755)
    for (const name of ["session.json", "run.jsonl"]) {
      await writeFile(join(shared, name), "")
      await chmod(join(shared, name), 0o640)
    }
    const model = recordModel(scriptedModel(["Hello."]), join(shared, "run.jsonl"))
    await using session = await createAgent({ model, runtime: () => jsRuntime() }).session()
    await session.send("Go")
    await session.save(join(shared, "session.json"))
    const modes = ["", "session.json", "run.jsonl"].map(async (name) => (await stat(join(shared, name))).mode & 0o777)
    assert.deepEqual(await Promise.all(modes), [0o755, 0o640, 0o640])
  })

  test("in a workspace is written as ever: only .karst is private", async (t) => {
    const earlier = process.umask(0o022)
    t.after(() => void process.umask(earlier))
    const folder = await mkdtemp(join(tmpdir(), "karst-private-"))
    t.after(() => rm(folder, { recursive: true, force: true }))
    await localWorkspace(folder).write("src/.karst.ts", "export {}")
    const modes = ["src", "src/.karst.ts"].map(async (name) => (await stat(join(folder, name))).mode & 0o777)
    assert.deepEqual(await Promise.all(modes), [0o755, 0o644])
  })
})

test("source files write to disk through core/private-files.ts, or are listed here with their reason", () => {
  const root = dirname(dirname(import.meta.dirname))
  const elsewhere: Record<string, string> = {
    "src/core/private-files.ts": "the helper itself",
    "src/workspaces/": "files of the user's project; .karst is private",
    "src/agent/prompt/workspace-facts.ts": "below a folder of mkdtemp",
    "src/tools/shell/": "below a folder of mkdtemp, and the folder of the workspace",
    "src/runtime/process/": "below a folder of mkdtemp, or with a mode",
    "src/runtime/python/": "below a folder of mkdtemp",
    "src/providers/": "below a folder of mkdtemp, with a mode",
    "src/sessions/folder/commit-session.ts": "with a mode",
    "src/cli/commands/skills/copy-skill.ts": "skills that the user adds",
    "src/cli/commands/demo-command.ts": "charts for the user",
    "src/cli/commands/init-command.ts": "the project that the user creates",
    "src/cli/chat/images.ts": "images for the user, in a private folder",
    "src/testing/": "conformance suites",
  }
  const writes = /\b(writeFile|writeFileSync|appendFile|appendFileSync|mkdir|mkdirSync|createWriteStream|copyFile)\(/
  const found = globSync("src/**/*.ts", { cwd: root })
    .filter((file) => !Object.keys(elsewhere).some((prefix) => file.startsWith(prefix)))
    .filter((file) => writes.test(readFileSync(join(root, file), "utf8")))
  assert.deepEqual(found, [])
})
