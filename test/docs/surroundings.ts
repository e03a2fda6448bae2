// What the programs of the pages find around them: a working directory, variables, services on the network.
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { TestContext } from "node:test"
import { type Behaviour, type ModelServer, modelServer } from "../fixtures/model-server.ts"

/** Makes a temporary folder with these files the working directory until the test ends. Returns its path. */
export async function workIn(t: Pick<TestContext, "after">, files: Record<string, string> = {}): Promise<string> {
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
  t.after(() => server[Symbol.asyncDispose]())
  const asked = redirectRequests(t, ({ pathname, search }) => server.url + pathname + search)
  return { requests: server.requests, asked }
}

/** Sends every request of `fetch` to another address until the test ends. Returns the addresses that were meant, to
 *  which each request is added. */
export function redirectRequests(t: TestContext, to: (url: URL) => string): string[] {
  const { fetch } = globalThis
  const asked: string[] = []
  globalThis.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    asked.push(url.origin + url.pathname)
    return fetch(to(url), init)
  }
  t.after(() => {
    globalThis.fetch = fetch
  })
  return asked
}
