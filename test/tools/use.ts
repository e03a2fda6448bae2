import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestContext } from "node:test"
import type { Json } from "../../src/core/json.ts"
import { isToolResult, type Tool, type ToolContext, type ToolResult } from "../../src/tools/tool.ts"
import { localWorkspace } from "../../src/workspaces/local.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import type { Workspace } from "../../src/workspaces/workspace.ts"

export interface Files {
  [path: string]: string | Uint8Array
}

/** Both kinds of workspace with the same files: with and without a local folder. */
export async function workspaces(context: TestContext, files: Files = {}): Promise<Workspace[]> {
  return [memoryWorkspace(files), await folderWith(context, files)]
}

/** A folder that is removed after the test. */
export async function folderWith(context: TestContext, files: Files = {}): Promise<Workspace & { root: string }> {
  const root = await mkdtemp(join(tmpdir(), "karst-tools-"))
  context.after(() => rm(root, { recursive: true, force: true }))
  const workspace = localWorkspace(root)
  for (const [path, data] of Object.entries(files)) await workspace.write(path, data)
  return { ...workspace, root }
}

/** Calls a tool as an agent does: validates the input, then runs it. */
export async function use(tool: Tool, input: Json, workspace: Workspace, signal?: AbortSignal): Promise<ToolResult> {
  const accepted = await tool.accept(input)
  if (!accepted.ok) assert.fail(accepted.message)
  const context: ToolContext = {
    call: "call_1",
    signal: signal ?? new AbortController().signal,
    workspace,
    state: { get: () => undefined, set: () => {} },
    progress: () => {},
  }
  const result = await tool.run(accepted.value, context)
  assert.ok(isToolResult(result))
  return result
}

export async function textOf(tool: Tool, input: Json, workspace: Workspace): Promise<string> {
  const result = await use(tool, input, workspace)
  assert.ok(result.ok, `${result.code}: ${result.text}`)
  return result.text
}

export async function failure(tool: Tool, input: Json, workspace: Workspace): Promise<string> {
  const result = await use(tool, input, workspace)
  assert.equal(result.ok, false, result.text)
  return `${result.code}: ${result.text}`
}

export async function stored(workspace: Workspace, path: string): Promise<Buffer> {
  return Buffer.from(await workspace.read(path))
}
