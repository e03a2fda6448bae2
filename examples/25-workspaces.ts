// Workspaces: files in a folder, in memory or on S3 behind one contract. An agent cannot reach files outside of it, and
// each write is atomic. With S3_BUCKET set, the last part uses your bucket.
import { mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConflictError } from "karst"
import {
  localWorkspace,
  memoryWorkspace,
  overlayWorkspace,
  readOnlyWorkspace,
  s3Workspace,
  scopedWorkspace,
} from "karst/workspaces"

const folder = await mkdtemp(join(tmpdir(), "karst-example-"))
const project = localWorkspace(folder)
await project.write("src/main.ts", 'console.log("hello")\n')
await project.write("README.md", "# Project\n")
console.log("TypeScript:", await Array.fromAsync(project.list("", { glob: "**/*.ts" }), ({ path }) => path))

// Out of the folder leads no path and no link.
await symlink("/etc", join(folder, "etc"))
for (const path of ["../secret", "/etc/passwd", "etc/passwd"]) {
  await project.read(path).catch((error) => console.log(`${error.code}: ${error.message}`))
}

// Two editors, one file: the second gets an error instead of overwriting the first.
const seen = await project.stat("README.md")
await project.write("README.md", "# Project\n\nBy one.\n", { ifMatch: seen?.etag })
await project.write("README.md", "# By the other\n", { ifMatch: seen?.etag }).catch((error) => {
  console.log("conflict:", error instanceof ConflictError)
})

// Work on the project without touching it: what changes is in `changes`.
const changes = memoryWorkspace()
const draft = overlayWorkspace(project, changes)
await draft.write("src/main.ts", 'console.log("changed")\n')
await draft.remove("README.md")
console.log("in the draft:", await Array.fromAsync(draft.list(), ({ path }) => path))
console.log("on disk:", new TextDecoder().decode(await project.read("src/main.ts")).trim())
await rm(folder, { recursive: true })

// The same contract on S3, streamed and in ranges.
const { S3_BUCKET, S3_ENDPOINT } = process.env
const bucket = S3_BUCKET
  ? s3Workspace({ bucket: S3_BUCKET, endpoint: S3_ENDPOINT, prefix: "example" })
  : memoryWorkspace()
async function* report() {
  const encoder = new TextEncoder()
  for (let month = 1; month <= 12; month++) yield encoder.encode(`${month},${month * 100}\n`)
}
await bucket.write("2026/report.csv", report())
await bucket.write("2026/report.csv", "total,7800\n", { append: true })
console.log((await bucket.stat("2026/report.csv"))?.sizeBytes, "bytes")
await readOnlyWorkspace(scopedWorkspace(bucket, "2026"))
  .remove("report.csv")
  .catch((error) => console.log(error.message))
await bucket.remove("2026/report.csv")
