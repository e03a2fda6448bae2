// A workspace in an S3 bucket. The driver is loaded at first use.
import { type S3Options, toS3Settings } from "./s3/s3-options.ts"
import { type Workspace, withKnownOptions } from "./workspace.ts"

/** Files in a bucket of S3 or a compatible service (MinIO, R2, OSS). Needs the package aws4fetch.
 *  A file and a folder can have the same name here. `ifMatch` is exact if the service supports conditional writes
 *  (AWS, MinIO and R2 do), otherwise only among the writes of one workspace. An append reads the file and writes it
 *  again, if it is still the same version. */
export function s3Workspace(options: S3Options): Workspace {
  const settings = toS3Settings(options)
  let driver: Promise<Workspace> | undefined

  function loaded(): Promise<Workspace> {
    driver ??= import("./s3/s3-driver.ts").then(({ createS3Workspace: s3Driver }) => s3Driver(settings))
    return driver
  }

  return withKnownOptions({
    read: async (...args) => (await loaded()).read(...args),
    async *stream(...args) {
      yield* (await loaded()).stream(...args)
    },
    write: async (...args) => (await loaded()).write(...args),
    stat: async (...args) => (await loaded()).stat(...args),
    async *list(...args) {
      yield* (await loaded()).list(...args)
    },
    remove: async (...args) => (await loaded()).remove(...args),
  })
}
