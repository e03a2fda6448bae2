import { type S3Options, toS3Settings } from "./s3/s3-options.ts"
import type { Workspace } from "./workspace.ts"

/** Files in a bucket of S3, or of a service that speaks like it: MinIO, R2, OSS. Needs the package aws4fetch.
 *
 *  A file and a folder of one name can be side by side here. `ifMatch` is exact where the service keeps conditions (AWS, MinIO and R2
 *  do); elsewhere only among the writes of one workspace. An append reads the file and writes it anew, on the condition that it is
 *  still the same. */
export function s3Workspace(options: S3Options): Workspace {
  const settings = toS3Settings(options)
  let driver: Promise<Workspace> | undefined

  function loaded(): Promise<Workspace> {
    driver ??= import("./s3/s3-driver.ts").then(({ createS3Workspace: s3Driver }) => s3Driver(settings))
    return driver
  }

  return {
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
  }
}
