declare module "s3rver" {
  interface Options {
    address: string
    port: number
    silent: boolean
    directory: string
    configureBuckets: { name: string }[]
  }

  /** Where s3rver keeps objects. Its calls take the object, or the place of a part and its content. */
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
