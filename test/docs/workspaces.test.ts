// The programs of docs/workspaces.md, each run as it is shown there.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { test } from "node:test"

// #region workspaces
import { localWorkspace, memoryWorkspace, s3Workspace } from "karst/workspaces"
// #endregion

import { ConflictError } from "karst"
import type { Workspace } from "karst/workspaces"
import { startS3rver } from "../workspaces/start-s3rver.ts"
import { redirectRequests, setVariables, workIn } from "./surroundings.ts"

const text = async (workspace: Workspace, path: string) => new TextDecoder().decode(await workspace.read(path))

test("a workspace writes, reads, lists and removes files of a folder, in memory or on S3", async (t) => {
  await using s3 = await startS3rver("team")
  redirectRequests(t, ({ pathname, search }) => `${s3.endpoint}/team${pathname}${search}`)
  setVariables(t, { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER", AWS_SESSION_TOKEN: undefined })
  await workIn(t, {
    "project/log.txt": "one line\n",
    "project/data.bin": "0123456789".repeat(200),
    "project/large.csv": "a,b\n",
    "project/src/ui/a.tsx": "export {}\n",
    "project/src/b.ts": "",
    "project/src/c.md": "",
  })
  const printed = t.mock.method(console, "log", () => {})
  // #region workspaces
  const workspace = localWorkspace("./project") // a folder of this machine
  const scratch = memoryWorkspace({ "notes/plan.md": "…" }) // lost when the process ends; a durable run raises a warning
  // npm install aws4fetch
  const bucket = s3Workspace({ bucket: "team", prefix: "runs/42", region: "eu-west-1" })

  await workspace.write("notes/today.md", "# Today\n") // a string, bytes, or an async iterable of bytes
  await workspace.write("log.txt", "one more line\n", { append: true })
  const first = await workspace.read("data.bin", { start: 0, end: 1024 }) // bytes; end is exclusive
  let bytes = 0
  for await (const chunk of workspace.stream("large.csv")) bytes += chunk.length // never holds the whole file
  for await (const { path, sizeBytes } of workspace.list("src", { glob: "**/*.{ts,tsx}" })) console.log(path, sizeBytes)
  const info = await workspace.stat("notes/today.md") // { path, sizeBytes, modifiedAt, etag }, or undefined
  await workspace.remove("notes/today.md") // no error if the file does not exist
  // #endregion
  assert.equal(await readFile("project/log.txt", "utf8"), "one line\none more line\n")
  assert.deepEqual([first.length, bytes], [1024, 4])
  assert.deepEqual(
    printed.mock.calls.map((call) => call.arguments),
    [
      ["src/b.ts", 0],
      ["src/ui/a.tsx", 10],
    ],
  )
  assert.deepEqual(Object.keys(info ?? {}).sort(), ["etag", "modifiedAt", "path", "sizeBytes"])
  assert.equal(await workspace.stat("notes/today.md"), undefined)
  await workspace.remove("notes/today.md")
  async function* chunks() {
    yield new TextEncoder().encode("more\n")
  }
  for (const each of [workspace, scratch, bucket]) {
    await each.write("a/bytes", new TextEncoder().encode("# Today\n"))
    await each.write("a/bytes", chunks(), { append: true })
    assert.equal(await text(each, "a/bytes"), "# Today\nmore\n")
  }
  assert.deepEqual([workspace.inMemory ?? false, scratch.inMemory, bucket.inMemory ?? false], [false, true, false])
})

test("a conditional write changes nothing if another writer was first", async () => {
  const files = memoryWorkspace()
  async function write(workspace: Workspace) {
    // #region condition
    const before = await workspace.stat("config.json")
    const next = JSON.stringify({ theme: "dark" })
    // Otherwise a ConflictError, and nothing is changed.
    await workspace.write("config.json", next, { ifMatch: before?.etag ?? null })
    // #endregion
  }
  const overtaken: Workspace = {
    ...files,
    async stat(path) {
      const info = await files.stat(path)
      await files.write(path, "another writer's")
      return info
    },
  }
  await assert.rejects(write(overtaken), ConflictError)
  await assert.rejects(write(overtaken), ConflictError)
  assert.equal(await text(files, "config.json"), "another writer's")
  await write(files)
  assert.equal(await text(files, "config.json"), '{"theme":"dark"}')
  await files.remove("config.json")
  await write(files)
  assert.equal(await text(files, "config.json"), '{"theme":"dark"}')
})

test("s3Workspace reaches the services of AWS, MinIO, R2 and OSS at their addresses", async (t) => {
  await using s3 = await startS3rver("team")
  const asked = redirectRequests(t, ({ pathname, search }) => {
    return `${s3.endpoint}/team/${pathname.replace("/team/", "").replace(/^\//, "")}${search}`
  })
  setVariables(t, { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER", AWS_SESSION_TOKEN: undefined })
  setVariables(t, { KEY_ID: "S3RVER", KEY_SECRET: "S3RVER" })
  // #region s3
  const { KEY_ID: accessKeyId = "", KEY_SECRET: secretAccessKey = "" } = process.env
  const credentials = { accessKeyId, secretAccessKey }

  const bucket = "team"
  const aws = s3Workspace({ bucket, region: "eu-west-1" }) // keys from the environment
  const minio = s3Workspace({ bucket, endpoint: "http://localhost:9000", credentials })
  // R2: with the id of your account
  const r2 = s3Workspace({ bucket, endpoint: "https://account.r2.cloudflarestorage.com", region: "auto", credentials })
  const oss = s3Workspace({
    bucket,
    endpoint: "https://oss-cn-hangzhou.aliyuncs.com",
    addressing: "virtual",
    credentials,
  })
  // #endregion
  for (const [name, workspace] of Object.entries({ aws, minio, r2, oss })) {
    await workspace.write(name, "written")
    assert.equal(await text(workspace, name), "written")
  }
  assert.deepEqual(
    new Set(asked),
    new Set([
      "https://team.s3.eu-west-1.amazonaws.com/aws",
      "http://localhost:9000/team/minio",
      "https://account.r2.cloudflarestorage.com/team/r2",
      "https://team.oss-cn-hangzhou.aliyuncs.com/oss",
    ]),
  )
})
