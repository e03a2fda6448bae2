import { mkdtemp, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import S3rver from "s3rver"

export const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" }

/** A real S3 server with one bucket. It ignores conditions and does not check signatures; the server in s3-server.ts
 *  does both. */
export async function startS3rver(bucket: string): Promise<{ endpoint: string } & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), "karst-s3-"))
  const configureBuckets = [{ name: bucket }]
  const server = new S3rver({ address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets })
  waitForFiles(server)
  const { port } = await server.run()
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await server.close()
      await rm(directory, { recursive: true })
    },
  }
}

// s3rver may respond before it has written the file. S3 never does that.
function waitForFiles({ store }: S3rver): void {
  const { putObject, putPart } = store
  store.putObject = (object) =>
    written(store.getResourcePath(object.bucket, object.key, "object"), () => putObject.call(store, object))
  store.putPart = (bucket, uploadId, partNumber, content) =>
    written(join(store.getResourcePath(bucket, undefined, "uploads"), uploadId, String(partNumber)), () =>
      putPart.call(store, bucket, uploadId, partNumber, content),
    )
}

async function written<R extends { size: number }>(file: string, write: () => Promise<R>): Promise<R> {
  await rm(file, { force: true })
  const result = await write()
  while ((await stat(file).catch(() => undefined))?.size !== result.size) await turn()
  return result
}
