declare module "s3rver" {
  interface Options {
    address: string
    port: number
    silent: boolean
    directory: string
    configureBuckets: { name: string }[]
  }

  /** The object store of s3rver. Its methods take an object, or the location of a part and its content. */
  interface Store {
    getResourcePath(bucket: string, key: string | undefined, resource: string): string
    putObject(object: { bucket: string; key: string }): Promise<{ size: number }>
    putPart(bucket: string, uploadId: string, partNumber: number, content: unknown): Promise<{ size: number }>
  }

  export default class S3rver {
    constructor(options: Options)
    readonly store: Store
    run(): Promise<{ port: number }>
    close(): Promise<void>
  }
}
