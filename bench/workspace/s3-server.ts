// A real S3 server, in a process of its own so that its memory is not counted: s3-server.ts
import { startS3rver } from "../../test/workspaces/start-s3rver.ts"

const server = await startS3rver("karst")
process.once("message", async () => {
  await server[Symbol.asyncDispose]()
  process.disconnect()
})
process.send?.(server.endpoint)
