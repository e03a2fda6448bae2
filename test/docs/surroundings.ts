// What the programs of the pages find around them: a working directory, variables, services on the network.
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { TestContext } from "node:test"
import { type Behaviour, type ModelServer, modelServer } from "../fixtures/model-server.ts"

/** Makes a temporary folder with these files the working directory until the test ends. Returns its path. */
export async function workIn(t: TestContext, files: Record<string, string> = {}): Promise<string> {
  const before = process.cwd()
  const folder = await realpath(await mkdtemp(join(tmpdir(), "karst-docs-")))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  process.chdir(folder)
  t.after(async () => {
    process.chdir(before)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return folder
}

/** Sets variables of the environment until the test ends; undefined removes one. */
export function setVariables(t: TestContext, variables: Readonly<Record<string, string | undefined>>): void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  const set = ([name, value]: readonly [string, string | undefined]) => {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  for (const entry of Object.entries(variables)) set(entry)
  t.after(() => before.forEach(set))
}

/** Model services on the network: until the test ends, one loopback server gets the requests for all addresses. It does
 *  one thing a request, in order. `asked` lists the addresses that were meant. */
export async function modelServices(
  t: TestContext,
  ...behaviours: Behaviour[]
): Promise<Pick<ModelServer, "requests"> & { asked: string[] }> {
  const server = await modelServer(...behaviours)
  const before = globalThis.fetch
  const asked: string[] = []
  globalThis.fetch = (input, init) => {
    const { origin, pathname, search } = new URL(input instanceof Request ? input.url : input)
    asked.push(origin + pathname)
    return before(server.url + pathname + search, input instanceof Request ? { ...input, ...init } : init)
  }
  t.after(async () => {
    globalThis.fetch = before
    await server[Symbol.asyncDispose]()
  })
  return { requests: server.requests, asked }
}
