// test lane: durable
import assert from "node:assert/strict"
import { after, before, describe, test } from "node:test"
import { GetObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3"
import { testWorkspace } from "karst/testing"
import { s3Workspace } from "../../src/workspaces/s3.ts"
import { credentials, type S3Server, startS3 } from "./s3-server.ts"

describe("s3Workspace, on a service that keeps conditions", () => {
  let s3: S3Server
  let count = 0
  before(async () => {
    s3 = await startS3({ pageSize: 4 })
  })
  after(() => s3[Symbol.asyncDispose]())

  testWorkspace({
    test,
    workspace: () => s3Workspace({ bucket: "bucket", prefix: `run ${count++}`, endpoint: s3.endpoint, credentials }),
    skip: { "path-taken": "by design: in S3 a file and a folder of one name can be side by side" },
  })

  test("signs as the AWS SDK does", async () => {
    const sdk = new S3Client({ endpoint: s3.endpoint, credentials, region: "us-east-1", forcePathStyle: true })
    const workspace = s3Workspace({ bucket: "bucket", prefix: "signed", endpoint: s3.endpoint, credentials })
    const path = "a b/+%25~!'()*&=?#/é😀.txt"
    await workspace.write(path, "text")
    const { Body } = await sdk.send(new GetObjectCommand({ Bucket: "bucket", Key: `signed/${path}` }))
    assert.equal(await Body?.transformToString(), "text")
    const { Contents } = await sdk.send(new ListObjectsV2Command({ Bucket: "bucket", Prefix: "signed/a b/+" }))
    assert.equal(Contents?.[0]?.Key, `signed/${path}`)
    sdk.destroy()

    const wrong = { ...credentials, secretAccessKey: "not-the-secret" }
    const stranger = s3Workspace({ bucket: "bucket", endpoint: s3.endpoint, credentials: wrong })
    await assert.rejects(stranger.read("a"), { code: "authentication" })
  })

  test("passes over keys that are no paths", async () => {
    const object = { bytes: Buffer.from("x"), etag: "x", at: new Date() }
    for (const key of ["folder/", "a//b", "a\\b", "../c", "/d", "e/./f", "good", "\n"])
      s3.objects.set(`odd/${key}`, object)
    const workspace = s3Workspace({ bucket: "bucket", prefix: "odd", endpoint: s3.endpoint, credentials })
    assert.deepEqual(await Array.fromAsync(workspace.list(), ({ path }) => path), ["good"])
  })
})
