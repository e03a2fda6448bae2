// Passes tables from one kernel to another through a file, which the host copies without reading it.
import { AsyncLocalStorage } from "node:async_hooks"
import { constants, type FileHandle, open } from "node:fs/promises"
import { AgentError } from "../../../core/errors.ts"
import { agentRuntimeInfo } from "../../bindings/cell-agent.ts"
import { peerObjectOf } from "../../handles/peer-objects.ts"

/** True while the host retrieves a value for another kernel: tables then stay handles instead of being converted. */
export const passingTablesToKernel = new AsyncLocalStorage<boolean>()

/** Returns true for the runtime of an agent that runs Python, so that tables can go from kernel to kernel. */
export function isPythonAgent(value: unknown): boolean {
  return typeof value === "object" && value !== null && agentRuntimeInfo(value)?.language === "python"
}

/** Returns true for a handle of a table that lives in a kernel. */
export function isKernelTable(value: unknown): value is object {
  const type = peerObjectOf(value)?.type ?? ""
  return /^pandas\.(?:.+\.)?(?:DataFrame|Series)$/.test(type)
}

/** Copies a file from one kernel's folder to another's. Cells may have replaced it, so it must be a regular file. */
export async function copyTableFile(from: string, to: string): Promise<void> {
  await using source = await openRegularFile(from)
  await using target = await open(to, "wx", 0o600)
  await target.writeFile(source.createReadStream({ autoClose: false }))
}

async function openRegularFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new AgentError("The Python kernel did not write the table that was asked of it.", { code: "invalid-value" })
}
