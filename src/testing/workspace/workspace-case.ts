// What the cases of the workspace suite are made of: checks, and helpers.
import assert from "node:assert/strict"
import { AgentError, ConflictError } from "../../core/errors.ts"
import type { FileInfo, ListOptions, ReadOptions, Workspace } from "../../workspaces/workspace.ts"

/** One promise of a workspace, and its check. */
export interface WorkspaceCheck {
  promise: string
  check(workspace: Workspace): Promise<void>
}

export function workspaceCase(promise: string, check: WorkspaceCheck["check"]): WorkspaceCheck {
  return { promise, check }
}

export async function textAt(workspace: Workspace, path: string, options?: ReadOptions): Promise<string> {
  return new TextDecoder().decode(await workspace.read(path, options))
}

export async function streamed(workspace: Workspace, path: string, options?: ReadOptions): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of workspace.stream(path, options)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export async function listed(workspace: Workspace, folder?: string, options?: ListOptions): Promise<FileInfo[]> {
  return await Array.fromAsync(workspace.list(folder, options))
}

export async function pathsIn(workspace: Workspace, folder?: string, options?: ListOptions): Promise<string[]> {
  return (await listed(workspace, folder, options)).map(({ path }) => path)
}

/** Fails unless the work rejects with this error code. */
export async function refused(code: string, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof AgentError, String(error))
    assert.equal(error.code, code, error.message)
    return true
  })
}

export async function conflicts(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => error instanceof ConflictError)
}

/** Returns pseudo-random bytes that are the same each time. */
export function bytesOf(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length)
  let state = seed
  for (let index = 0; index < length; index++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    bytes[index] = state >> 16
  }
  return bytes
}

/** Yields bytes in chunks of one size. Reuses the buffer for each chunk, as real sources do. */
export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(size)
  for (let from = 0; from < bytes.length; from += size) {
    const piece = bytes.subarray(from, from + size)
    buffer.set(piece)
    yield buffer.subarray(0, piece.length)
  }
}
