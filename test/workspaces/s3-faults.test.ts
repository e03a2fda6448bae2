// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { AgentError, ConfigError, ConflictError, isAbortError } from "../../src/core/errors.ts"
import type { S3Options } from "../../src/workspaces/s3/s3-options.ts"
import { s3Workspace } from "../../src/workspaces/s3.ts"
import type { Workspace } from "../../src/workspaces/workspace.ts"
import { type Fault, credentials as keys, type Request, type S3Server, startS3 } from "./s3-server.ts"

const credentials = { ...keys, sessionToken: "key-session" }

describe("s3Workspace, when things go wrong", () => {
  test("tries again what may work later, for every kind of request", async () => {
    await using s3 = await startS3()
    const workspace = open(s3)
    for (const fault of [{ status: 500 }, { status: 503, code: "SlowDown" }, { status: 429 }, "reset"] as const) {
      s3.fault = onceEach(fault)
      await workspace.write("a.txt", "text")
      assert.equal((await workspace.stat("a.txt"))?.sizeBytes, 4)
      assert.equal(await text(workspace, "a.txt"), "text")
      assert.equal((await paths(workspace)).join(), "a.txt")
      await workspace.remove("a.txt")
      assert.equal(await workspace.stat("a.txt"), undefined)
    }
  })

  const lasting: [fault: Fault, code: string][] = [
    [{ status: 500, code: "InternalError" }, "server-error"],
    [{ status: 503, code: "SlowDown" }, "rate-limited"],
    [{ status: 403, code: "AccessDenied" }, "permission-denied"],
    [{ status: 403, code: "SignatureDoesNotMatch" }, "authentication"],
    [{ status: 400, code: "ExpiredToken" }, "authentication"],
    [{ status: 404, code: "NoSuchBucket" }, "config"],
    [{ status: 404, body: "<html>Not here</html>" }, "invalid-response"],
    [{ status: 301, headers: { "x-amz-bucket-region": "eu-west-1" } }, "config"],
    [{ status: 501, code: "NotImplemented" }, "unsupported"],
    ["reset", "connection"],
    ["silence", "timeout"],
  ]
  for (const [fault, code] of lasting) {
    test(`tells ${typeof fault === "string" ? fault : JSON.stringify(fault)} as ${code}, never as a missing file`, async () => {
      await using s3 = await startS3()
      const workspace = open(s3, { timeoutMs: 50, maxRetries: 1 })
      await workspace.write("a.txt", "text")
      s3.fault = () => fault
      for (const work of [
        () => workspace.stat("a.txt"),
        () => workspace.read("a.txt"),
        () => workspace.write("a.txt", "new"),
        () => workspace.write("a.txt", "new", { append: true }),
        () => workspace.remove("a.txt"),
        () => paths(workspace),
      ]) {
        await assert.rejects(work(), (error) => {
          assert.ok(error instanceof AgentError)
          // HEAD has no body: only the status shows the error.
          const isHead = s3.seen.at(-1)?.method === "HEAD"
          if (!isHead || error.code === code) assert.equal(error.code, code)
          else assert.match(error.code, /^(permission-denied|invalid-response|server-error)$/)
          return true
        })
      }
      s3.fault = () => undefined
      assert.equal(await text(workspace, "a.txt"), "text")
    })
  }

  test("says where a bucket is, that is elsewhere", async () => {
    await using s3 = await startS3()
    s3.fault = () => ({ status: 301, headers: { "x-amz-bucket-region": "eu-west-1" } })
    await assert.rejects(open(s3).read("a"), /The bucket "bucket" is elsewhere .* It is in the region "eu-west-1"/)
  })

  test("tells a missing bucket from a missing file, also to stat", async () => {
    await using s3 = await startS3({ bucket: "other" })
    await assert.rejects(open(s3).stat("a.txt"), (error) => {
      assert.ok(error instanceof ConfigError)
      assert.match(error.message, /There is no bucket "bucket"/)
      return true
    })
  })

  test("goes on where an answer was cut", async () => {
    await using s3 = await startS3()
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251))
    const workspace = open(s3)
    await workspace.write("a.bin", bytes)
    s3.fault = cutting(3, 70_000)
    assert.ok(Buffer.from(await workspace.read("a.bin")).equals(bytes))
    s3.fault = cutting(3, 70_000)
    const part = Buffer.concat(await Array.fromAsync(workspace.stream("a.bin", { start: 5, end: 250_000 })))
    assert.ok(part.equals(bytes.subarray(5, 250_000)))
  })

  test("gives up on a file that is always cut before its first byte", async () => {
    await using s3 = await startS3()
    const workspace = open(s3, { maxRetries: 2 })
    await workspace.write("a.txt", "some text")
    s3.fault = () => ({ cutAfter: 0 })
    await assert.rejects(workspace.read("a.txt"), { code: "connection", retryable: true })
  })

  test("never joins two versions of a file", async () => {
    await using s3 = await startS3()
    const workspace = open(s3)
    await workspace.write("a.bin", Buffer.alloc(200_000, 1))
    const reads = { count: 0 }
    s3.fault = ({ method }) => {
      if (method !== "GET") return undefined
      return ++reads.count === 1 ? { cutAfter: 70_000 } : { replacedBy: "another version" }
    }
    await assert.rejects(workspace.read("a.bin"), (error) => error instanceof ConflictError)
  })

  test("tells a listing that was cut, however it was cut", async () => {
    await using s3 = await startS3()
    const workspace = open(s3, { maxRetries: 1 })
    for (const name of ["a", "b", "c"]) await workspace.write(name, "")
    s3.fault = () => ({ cutAfter: 200, quietly: true })
    await assert.rejects(paths(workspace), { code: "truncated" })
    s3.fault = () => ({ cutAfter: 200 })
    await assert.rejects(paths(workspace), { code: "connection" })
  })

  test("asks for other credentials when they have expired, once", async () => {
    await using s3 = await startS3()
    let given = 0
    const renewing = async () => ({ ...credentials, sessionToken: `token ${++given}` })
    const workspace = open(s3, { credentials: renewing })
    const expired = { status: 400, code: "ExpiredToken" }
    s3.fault = ({ headers }) => (headers["x-amz-security-token"] === "token 1" ? expired : undefined)
    await workspace.write("a.txt", "text")
    assert.equal(await text(workspace, "a.txt"), "text")
    assert.equal(given, 2)
    s3.fault = () => expired
    await assert.rejects(workspace.read("a.txt"), { code: "authentication", message: /credentials have expired/ })
    assert.equal(given, 3)
  })

  test("has no secret in its errors, even when the service repeats it", async () => {
    await using s3 = await startS3()
    s3.fault = () => ({ status: 403, code: "AccessDenied", message: "key-id key-secret key-session" })
    await assert.rejects(open(s3).read("a.txt"), (error) => {
      assert.ok(error instanceof AgentError)
      assert.match(error.message, /\*\*\* \*\*\* \*\*\*/)
      assert.doesNotMatch(JSON.stringify([error, error.message, error.stack]), /key-(id|secret|session)/)
      return true
    })
  })

  test("takes no user or password in the endpoint, and no bucket or credentials that are none", () => {
    assert.throws(() => s3Workspace({ bucket: "b", endpoint: "http://u:p@host", credentials }), ConfigError)
    assert.throws(() => s3Workspace({ bucket: "bucket", endpoint: "host:80", credentials }), /is not an S3 endpoint/)
    assert.throws(() => s3Workspace({ bucket: "a/b", credentials }), /"a\/b" is not the name of a bucket/)
    assert.throws(() => s3Workspace({ bucket: "bucket", credentials, partBytes: 1000 }), /at least 5 MiB/)
    assert.throws(() => s3Workspace({ bucket: "bucket", credentials, prefix: "../a" }), { code: "invalid-path" })
  })

  test("stops at once when its signal fires, also while it waits to try again", async () => {
    await using s3 = await startS3()
    const workspace = open(s3, { firstDelayMs: 3_600_000 })
    for (const fault of ["silence", { status: 500 }] as const) {
      const controller = new AbortController()
      const asked = Promise.withResolvers<void>()
      s3.fault = () => {
        asked.resolve()
        return fault
      }
      const read = workspace.read("a.txt", { signal: controller.signal })
      await asked.promise
      controller.abort()
      await assert.rejects(read, isAbortError)
    }
  })
})

describe("s3Workspace, writing", () => {
  test("knows its own write when the answer to it was lost", async () => {
    await using s3 = await startS3()
    const workspace = open(s3)
    s3.fault = first("PUT", "lost-answer")
    const made = await workspace.write("a.txt", "one", { ifMatch: null })
    s3.fault = first("PUT", "lost-answer")
    const { etag } = await workspace.write("a.txt", "two", { ifMatch: made.etag })
    assert.equal(s3.objects.get("a.txt")?.etag, etag)
    s3.fault = first("PUT", "lost-answer")
    await workspace.write("a.txt", " three", { append: true })
    assert.equal(await text(workspace, "a.txt"), "two three")
  })

  test("says that a write may have been done, when nobody can tell", async () => {
    await using s3 = await startS3()
    const workspace = open(s3)
    const { etag } = await workspace.write("a.txt", "one")
    let puts = 0
    s3.fault = ({ method }) => {
      if (method !== "PUT") return undefined
      return ++puts === 1 ? "lost-answer" : { replacedBy: "somebody else's" }
    }
    await assert.rejects(workspace.write("a.txt", "two", { ifMatch: etag }), (error) => {
      assert.ok(error instanceof ConflictError)
      assert.match(error.message, /it may have been done/)
      assert.equal(error.retryable, false)
      return true
    })
  })

  test("appends again to what somebody else wrote between", async () => {
    await using s3 = await startS3()
    const workspace = open(s3)
    await workspace.write("log", "one ")
    s3.fault = first("PUT", { replacedBy: "one other " })
    await workspace.write("log", "two", { append: true })
    assert.equal(await text(workspace, "log"), "one other two")
  })

  test("sends a stream in parts, holds one at a time, and drops them all when it fails", async () => {
    await using s3 = await startS3()
    const workspace = open(s3, { partBytes: 5 * 2 ** 20, maxRetries: 1 })
    s3.fault = onceEach({ status: 500 })
    const { sizeBytes: size } = await workspace.write("a.bin", megabytes(12))
    assert.equal(size, 12 * 2 ** 20)
    assert.equal(s3.objects.get("a.bin")?.bytes.length, size)
    assert.equal(s3.uploads.size, 0)

    s3.fault = ({ query }) => (query.get("partNumber") === "2" ? { status: 500 } : undefined)
    await assert.rejects(workspace.write("b.bin", megabytes(12)), { code: "server-error" })
    assert.equal(s3.uploads.size, 0)
    assert.equal(await workspace.stat("b.bin"), undefined)
  })

  test("takes a failure that comes as a success for what it is", async () => {
    await using s3 = await startS3()
    const workspace = open(s3, { partBytes: 5 * 2 ** 20 })
    const body = "<Error><Code>InternalError</Code><Message>Try later.</Message></Error>"
    s3.fault = ({ method, query }) => (method === "POST" && query.has("uploadId") ? { status: 200, body } : undefined)
    await assert.rejects(workspace.write("a.bin", megabytes(6)), { code: "server-error", retryable: true })
    assert.equal(s3.uploads.size, 0)
  })

  test("completes an upload once, though the answer to it was lost", async () => {
    await using s3 = await startS3()
    const workspace = open(s3, { partBytes: 5 * 2 ** 20 })
    s3.fault = onComplete("lost-answer")
    const { etag } = await workspace.write("a.bin", megabytes(11), { ifMatch: null })
    assert.equal(s3.objects.get("a.bin")?.etag, etag)
  })

  test("keeps the condition of a write that goes up in parts", async () => {
    await using s3 = await startS3()
    const workspace = open(s3, { partBytes: 5 * 2 ** 20 })
    s3.fault = onComplete({ replacedBy: "somebody was faster" })
    const late = workspace.write("a.bin", megabytes(11), { ifMatch: null })
    await assert.rejects(late, (error) => error instanceof ConflictError)
    assert.equal(await text(workspace, "a.bin"), "somebody was faster")
    assert.equal(s3.uploads.size, 0)
  })

  test("puts the bucket where the service wants it", async () => {
    const asked: string[] = []
    const address = async (options: Partial<S3Options>) => {
      const original = globalThis.fetch
      globalThis.fetch = async (url) => {
        asked.push(String(url))
        return new Response("x", { headers: { etag: '"x"' } })
      }
      try {
        await s3Workspace({ bucket: "my-bucket", credentials, prefix: "p", ...options }).read("a b")
      } finally {
        globalThis.fetch = original
      }
    }
    await address({ region: "eu-west-1" })
    await address({ region: "eu-west-1", addressing: "path" })
    await address({ endpoint: "https://account.r2.cloudflarestorage.com", region: "auto" })
    await address({ endpoint: "https://oss-cn-hangzhou.aliyuncs.com", addressing: "virtual" })
    assert.deepEqual(asked, [
      "https://my-bucket.s3.eu-west-1.amazonaws.com/p/a%20b",
      "https://s3.eu-west-1.amazonaws.com/my-bucket/p/a%20b",
      "https://account.r2.cloudflarestorage.com/my-bucket/p/a%20b",
      "https://my-bucket.oss-cn-hangzhou.aliyuncs.com/p/a%20b",
    ])
  })
})

function open(s3: S3Server, options: Partial<S3Options> = {}): Workspace {
  return s3Workspace({ bucket: "bucket", endpoint: s3.endpoint, credentials, firstDelayMs: 1, ...options })
}

async function text(workspace: Workspace, path: string): Promise<string> {
  return Buffer.from(await workspace.read(path)).toString()
}

async function paths(workspace: Workspace): Promise<string[]> {
  return await Array.fromAsync(workspace.list(), ({ path }) => path)
}

/** Every kind of request fails the first time. */
function onceEach(fault: Fault): S3Server["fault"] {
  const seen = new Set<string>()
  return ({ method, key, query }) => {
    const kind = [method, key, query].join(" ")
    if (seen.has(kind)) return undefined
    seen.add(kind)
    return fault
  }
}

function first(method: string, fault: Fault): S3Server["fault"] {
  let done = false
  return (request) => {
    if (done || request.method !== method) return undefined
    done = true
    return fault
  }
}

function onComplete(fault: Fault): S3Server["fault"] {
  const begins = first("POST", fault)
  return (request: Request) => (request.query.has("uploadId") ? begins(request) : undefined)
}

function cutting(times: number, cutAfter: number): S3Server["fault"] {
  let left = times
  return ({ method }) => (method === "GET" && left-- > 0 ? { cutAfter } : undefined)
}

async function* megabytes(count: number): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(2 ** 20)
  for (let number = 0; number < count; number++) yield chunk.fill(number)
}
