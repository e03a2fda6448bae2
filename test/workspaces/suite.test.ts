import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type DeclareTest, testWorkspace, type WorkspaceCase } from "karst/testing"
import { ConfigError } from "../../src/core/errors.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import type { Workspace } from "../../src/workspaces/workspace.ts"

describe("testWorkspace", () => {
  test("declares a test for each promise, named by a word to skip it by", () => {
    const declared = declare(() => memoryWorkspace())
    assert.ok(declared.size > 35)
    for (const title of declared.keys()) assert.match(title, /^[a-z-]+: \S/)
  })

  test("skips a case with the reason it is given, and refuses a case it does not know", async () => {
    const skipped: unknown[] = []
    const declared = declare(() => memoryWorkspace(), { append: "it cannot" })
    await bodyOf(declared, "append")({ skip: (reason) => skipped.push(reason) })
    assert.deepEqual(skipped, ["it cannot"])
    const wrong: Record<string, string> = { appends: "no such case" }
    assert.throws(() => declare(() => memoryWorkspace(), wrong), ConfigError)
  })

  const mutants: { [what: string]: { breaks: (sound: Workspace) => Partial<Workspace>; caughtBy: WorkspaceCase } } = {
    "takes every path": {
      breaks: (sound) => ({ stat: async (path) => (path.includes("..") ? undefined : await sound.stat(path)) }),
      caughtBy: "paths-refused",
    },
    "tells a failure as absence": {
      breaks: (sound) => ({ stat: (path) => sound.stat(path).catch(() => undefined) }),
      caughtBy: "abort-before",
    },
    "ignores conditions": {
      breaks: (sound) => ({
        write: (path, data, options) => sound.write(path, data, { ...options, ifMatch: undefined }),
      }),
      caughtBy: "if-match",
    },
    "looks a condition up before it writes": {
      breaks: (sound) => ({
        async write(path, data, { ifMatch, ...options } = {}) {
          const etag = (await sound.stat(path))?.etag ?? null
          if (ifMatch !== undefined && ifMatch !== etag) return await sound.write(path, data, { ...options, ifMatch })
          return await sound.write(path, data, options)
        },
      }),
      caughtBy: "if-match-together",
    },
    "appends in two steps": {
      breaks: (sound) => ({
        async write(path, data, { append, ...options } = {}) {
          const before = append ? await sound.read(path).catch(() => new Uint8Array(0)) : new Uint8Array(0)
          const added = typeof data === "string" ? Buffer.from(data) : Buffer.concat(await chunks(data))
          return await sound.write(path, Buffer.concat([before, added]), options)
        },
      }),
      caughtBy: "append-together",
    },
    "lists in any order": {
      breaks: (sound) => ({
        async *list(folder, options) {
          yield* (await Array.fromAsync(sound.list(folder, options))).reverse()
        },
      }),
      caughtBy: "order",
    },
    "lists what only begins alike": {
      breaks: (sound) => ({
        async *list(folder = "", options) {
          if (options?.glob !== undefined) return yield* sound.list(folder, options)
          for await (const info of sound.list()) if (info.path.startsWith(folder)) yield info
        },
      }),
      caughtBy: "below",
    },
    "lets a star cross folders": {
      breaks: (sound) => ({
        list: (folder, options) => sound.list(folder, { ...options, glob: options?.glob?.replace(/^\*\./, "**/*.") }),
      }),
      caughtBy: "glob",
    },
    "gives one byte too many": {
      breaks: (sound) => ({
        read: (path, { end, ...options } = {}) => sound.read(path, { ...options, end: end && end + 1 }),
      }),
      caughtBy: "ranges",
    },
    "keeps what was given": {
      breaks: (sound) => {
        const given = new Map<string, Uint8Array>()
        return {
          async write(path, data, options) {
            if (data instanceof Uint8Array) given.set(path, data)
            return await sound.write(path, data, options)
          },
          read: async (path, options) => given.get(path) ?? (await sound.read(path, options)),
        }
      },
      caughtBy: "ownership",
    },
    "writes while the source still runs": {
      breaks: (sound) => ({
        async write(path, data, options) {
          if (typeof data === "string" || data instanceof Uint8Array) return await sound.write(path, data, options)
          await sound.write(path, "")
          for await (const chunk of data) await sound.write(path, chunk, { append: true })
          return await sound.write(path, "", { append: true })
        },
      }),
      caughtBy: "failing-source",
    },
  }
  for (const [what, { breaks, caughtBy }] of Object.entries(mutants)) {
    test(`catches a workspace that ${what}`, async () => {
      const declared = declare(() => {
        const sound = memoryWorkspace()
        return { ...sound, ...breaks(sound) }
      })
      await assert.rejects(bodyOf(declared, caughtBy)(noSkip))
      await bodyOf(
        declare(() => memoryWorkspace()),
        caughtBy,
      )(noSkip)
    })
  }
})

type Body = Parameters<DeclareTest>[1]

const noSkip = { skip: () => assert.fail("It is not to be skipped.") }

function declare(workspace: () => Workspace, skip: { [name: string]: string } = {}): Map<string, Body> {
  const declared = new Map<string, Body>()
  testWorkspace({ test: (title, body) => declared.set(title, body), workspace, skip })
  return declared
}

function bodyOf(declared: Map<string, Body>, name: WorkspaceCase): Body {
  const found = [...declared].find(([title]) => title.startsWith(`${name}:`))
  return found?.[1] ?? assert.fail(`There is no case ${name}.`)
}

async function chunks(data: Uint8Array | AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  if (data instanceof Uint8Array) return [data]
  const copies: Uint8Array[] = []
  for await (const chunk of data) copies.push(new Uint8Array(chunk))
  return copies
}
