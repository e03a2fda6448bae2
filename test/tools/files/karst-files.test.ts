import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import type { Json } from "../../../src/core/json.ts"
import { editFileTool } from "../../../src/tools/files/edit-file.ts"
import { fileInfoTool, findFilesTool, listFilesTool } from "../../../src/tools/files/list-files.ts"
import { readFileTool } from "../../../src/tools/files/read-file.ts"
import { writeFileTool } from "../../../src/tools/files/write-file.ts"
import { readImageTool } from "../../../src/tools/read-image.ts"
import { searchFilesTool } from "../../../src/tools/search.ts"
import type { Tool } from "../../../src/tools/tool.ts"
import { failure, folderWith, stored, textOf, workspaces } from "../use.ts"

const files = {
  "karst.config.ts": "export default {}",
  "packages/a/karst.config.json": "{}",
  ".karst/agents/ada.md": "needle",
  "packages/a/.karst/sessions/s/events.jsonl": "needle",
  ".karst/commands/c1.log": "output needle",
  "src/karst.config.ts.md": "About the needle.",
  "src/main.ts": "needle",
}

/** Paths that tools must not touch, also as a file system without letter case understands them. */
const closedPaths = [
  "karst.config.ts",
  "./karst.config.mjs",
  "KARST.Config.JSON",
  "packages/a/karst.config.json",
  ".karst/agents/ada.md",
  ".karst/new.md",
  ".Karst/agents/ada.md",
  "packages/a/.karst/sessions/s/events.jsonl",
]

describe("file tools", () => {
  test("neither read nor change the configuration and the files of Karst", async (t) => {
    for (const workspace of await workspaces(t, files)) {
      for (const path of closedPaths) {
        const uses: [Tool, Json][] = [
          [readFileTool(), { path }],
          [writeFileTool(), { path, content: "mine" }],
          [writeFileTool(), { path, content: "mine", append: true }],
          [editFileTool(), { path, edits: [{ oldText: "e", newText: "i", replaceAll: true }] }],
          [fileInfoTool(), { path }],
          [readImageTool(), { path }],
          [searchFilesTool(), { pattern: "needle", path, hidden: true }],
          [listFilesTool(), { path, hidden: true }],
        ]
        for (const [tool, input] of uses) {
          const text = await failure(tool, input, workspace)
          assert.match(text, /^protected: ".+" is closed to tools/, `${tool.name} ${path}: ${text}`)
        }
      }
      assert.equal(String(await stored(workspace, "karst.config.ts")), "export default {}")
    }
  })

  test("do not list or search them, and say nothing about them", async (t) => {
    for (const workspace of await workspaces(t, files)) {
      const found = await textOf(findFilesTool(), { glob: "**", hidden: true }, workspace)
      assert.deepEqual(found.match(/\S*(?:karst|main)\S*/gi)?.sort(), [
        ".karst/commands/c1.log",
        "src/karst.config.ts.md",
        "src/main.ts",
      ])
      const hits = await textOf(searchFilesTool(), { pattern: "needle", mode: "files", hidden: true }, workspace)
      assert.deepEqual(hits.match(/\S+\.\w+/g)?.sort(), [
        ".karst/commands/c1.log",
        "src/karst.config.ts.md",
        "src/main.ts",
      ])
      assert.doesNotMatch(hits, /agents|sessions|not be read/)
    }
  })

  test("read the stored output of commands, and do not change it", async (t) => {
    for (const workspace of await workspaces(t, files)) {
      assert.match(await textOf(readFileTool(), { path: ".karst/commands/c1.log" }, workspace), /output needle/)
      assert.match(
        await failure(writeFileTool(), { path: ".karst/commands/c1.log", content: "" }, workspace),
        /^protected/,
      )
    }
  })

  test("do not reach them through a link", async (t) => {
    const workspace = await folderWith(t, files)
    symlinkSync(".karst", join(workspace.root, "notes"))
    symlinkSync("karst.config.ts", join(workspace.root, "plain.ts"))
    for (const path of ["notes/agents/ada.md", "notes/agents/new.md", "plain.ts"]) {
      assert.match(await failure(readFileTool(), { path }, workspace), /^protected/, path)
      assert.match(await failure(writeFileTool(), { path, content: "mine" }, workspace), /^protected/, path)
    }
    assert.equal(String(await stored(workspace, "karst.config.ts")), "export default {}")
  })
})
