import { AsyncLocalStorage } from "node:async_hooks"
import { constants, type FileHandle, open } from "node:fs/promises"
import { AgentError } from "../../../core/errors.ts"
import { agentRuntimeInfo } from "../../bindings/cell-agent.ts"
import { peerObjectOf } from "../../handles/peer-objects.ts"

// A table that goes from one kernel to another goes as it is, by a file that the host passes on and never reads.

/** Whether what is asked for is to go on to a kernel, and so need not be taken apart here. */
export const passingTablesToKernel = new AsyncLocalStorage<boolean>()

/** Whether an object is the runtime of an agent that works in a kernel too: tables go there and come from there whole. */
export function isPythonAgent(value: unknown): boolean {
  return typeof value === "object" && value !== null && agentRuntimeInfo(value)?.language === "python"
}

/** Whether a value is a table that lives in a kernel. */
export function isKernelTable(value: unknown): value is object {
  const type = peerObjectOf(value)?.type ?? ""
  return /^pandas\.(?:.+\.)?(?:DataFrame|Series)$/.test(type)
}

/** Copies what one kernel has written to where another can read it. The first may have put anything in its place. */
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
