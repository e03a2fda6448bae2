import { createHash, createHmac, randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

/** The fault of one request, if any. */
export type Fault =
  /** A response with this status and S3's error body. */
  | { status: number; code?: string; message?: string; headers?: Record<string, string>; body?: string }
  /** The connection is cut before the request is processed, or after it was processed but before the response. */
  | "reset"
  | "lost-answer"
  /** Never responds. */
  | "silence"
  /** The response ends after this many bytes of its body; "quietly" without a content length. */
  | { cutAfter: number; quietly?: boolean }
  /** The object is replaced before the request is processed. */
  | { replacedBy: string }

export interface Request {
  method: string
  key: string
  query: URLSearchParams
  headers: IncomingMessage["headers"]
}

export interface S3Server extends AsyncDisposable {
  endpoint: string
  objects: Map<string, StoredObject>
  /** Multipart uploads that were neither completed nor aborted. */
  uploads: Map<string, Map<number, Buffer>>
  /** Every request, in order. */
  seen: Request[]
  fault: (request: Request) => Fault | undefined
}

interface StoredObject {
  bytes: Buffer
  etag: string
  at: Date
}

interface Answer {
  status: number
  headers?: Record<string, string>
  body?: Buffer | string
}

export const credentials = { accessKeyId: "key-id", secretAccessKey: "key-secret" }

/** A small S3 server that checks signatures, supports conditions and fails on demand. It has one bucket, and
 *  listings have `pageSize` keys per page. */
export async function startS3({ pageSize = 1000, bucket = "bucket" } = {}): Promise<S3Server> {
  const objects: S3Server["objects"] = new Map()
  const uploads: S3Server["uploads"] = new Map()
  const seen: Request[] = []
  const server = createServer((message, response) => void handle(message, response))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" ? address?.port : 0

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await Array.fromAsync(message).catch(() => []))
    const url = new URL(message.url ?? "/", "http://localhost")
    const [, name = "", ...names] = url.pathname.split("/")
    const key = decodeURIComponent(names.join("/"))
    const request: Request = { method: message.method ?? "", key, query: url.searchParams, headers: message.headers }
    seen.push(request)
    const fault = s3.fault(request)
    if (fault === "silence") return
    if (fault === "reset") return void message.socket.destroy()
    if (typeof fault === "object" && "replacedBy" in fault) put(key, Buffer.from(fault.replacedBy))
    const answer =
      typeof fault === "object" && "status" in fault
        ? { headers: {}, ...fault, body: fault.body ?? errorXml(fault.code, fault.message) }
        : isSigned(message, url)
          ? answerTo(request, name, body)
          : failure(403, "SignatureDoesNotMatch")
    if (fault === "lost-answer") return void message.socket.destroy()
    reply(request, response, answer, typeof fault === "object" && "cutAfter" in fault ? fault : undefined)
  }

  function reply(
    { method }: Request,
    response: ServerResponse,
    answer: Answer,
    cut?: { cutAfter: number; quietly?: boolean },
  ) {
    const { status, headers = {}, body = "" } = answer
    const bytes = Buffer.from(body)
    const length = method === "HEAD" || cut?.quietly ? {} : { "content-length": bytes.length }
    response.writeHead(status, { ...length, ...(cut?.quietly && { connection: "close" }), ...headers })
    if (!cut) return response.end(method === "HEAD" ? undefined : bytes)
    response.write(bytes.subarray(0, cut.cutAfter), () => {
      if (cut.quietly) response.end()
      else response.socket?.destroy()
    })
  }

  function answerTo(request: Request, name: string, body: Buffer): Answer {
    const { method, key, query } = request
    if (name !== bucket) return failure(404, "NoSuchBucket")
    if (key === "") return list(query)
    if (method === "GET" || method === "HEAD") return get(request)
    if (method === "PUT") return query.has("uploadId") ? putPart(query, body) : putOn(request, body)
    if (method === "POST") return query.has("uploads") ? begin() : complete(request)
    if (query.has("uploadId")) uploads.delete(query.get("uploadId") ?? "")
    else objects.delete(key)
    return { status: 204 }
  }

  function get({ key, headers }: Request): Answer {
    const object = objects.get(key)
    if (!object) return failure(404, "NoSuchKey")
    const { bytes, etag, at } = object
    if (headers["if-match"] !== undefined && headers["if-match"] !== `"${etag}"`)
      return failure(412, "PreconditionFailed")
    const told = { etag: `"${etag}"`, "last-modified": at.toUTCString() }
    const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "")
    if (!range) return { status: 200, headers: { ...told, "content-length": String(bytes.length) }, body: bytes }
    const [start, end] = [Number(range[1]), range[2] ? Number(range[2]) : bytes.length - 1]
    if (start >= bytes.length) return failure(416, "InvalidRange")
    return { status: 206, headers: told, body: bytes.subarray(start, end + 1) }
  }

  function putOn(request: Request, body: Buffer): Answer {
    const hash = createHash("sha256").update(body).digest("hex")
    if (request.headers["x-amz-content-sha256"] !== hash) return failure(400, "XAmzContentSHA256Mismatch")
    if (!holds(request)) return failure(412, "PreconditionFailed")
    return { status: 200, headers: { etag: `"${put(request.key, body).etag}"` } }
  }

  function holds({ key, headers }: Request): boolean {
    const etag = objects.get(key)?.etag
    if (headers["if-none-match"] === "*" && etag !== undefined) return false
    return headers["if-match"] === undefined || headers["if-match"] === `"${etag}"`
  }

  function put(key: string, bytes: Buffer, etag = md5(bytes).toString("hex")): StoredObject {
    const object = { bytes, etag, at: new Date() }
    objects.set(key, object)
    return object
  }

  function begin(): Answer {
    const id = randomUUID()
    uploads.set(id, new Map())
    return {
      status: 200,
      body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    }
  }

  function putPart(query: URLSearchParams, body: Buffer): Answer {
    const parts = uploads.get(query.get("uploadId") ?? "")
    if (!parts) return failure(404, "NoSuchUpload")
    parts.set(Number(query.get("partNumber")), body)
    return { status: 200, headers: { etag: `"${md5(body).toString("hex")}"` } }
  }

  function complete(request: Request): Answer {
    const id = request.query.get("uploadId") ?? ""
    const parts = uploads.get(id)
    if (!parts) return failure(404, "NoSuchUpload")
    if (!holds(request)) return failure(412, "PreconditionFailed")
    uploads.delete(id)
    const sorted = [...parts].sort(([a], [b]) => a - b).map(([, part]) => part)
    const etag = `${md5(Buffer.concat(sorted.map(md5))).toString("hex")}-${sorted.length}`
    put(request.key, Buffer.concat(sorted), etag)
    const body = `<CompleteMultipartUploadResult><ETag>&quot;${etag}&quot;</ETag></CompleteMultipartUploadResult>`
    return { status: 200, body: `<?xml version="1.0"?>\n${body}` }
  }

  function list(query: URLSearchParams): Answer {
    const after = query.get("continuation-token") ?? ""
    const keys = [...objects.keys()]
      .filter((key) => key.startsWith(query.get("prefix") ?? ""))
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const rest = keys.slice(after === "" ? 0 : keys.indexOf(Buffer.from(after, "base64").toString()) + 1)
    const page = rest.slice(0, pageSize)
    const last = Buffer.from(page.at(-1) ?? "").toString("base64")
    const next =
      rest.length > pageSize
        ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${last}</NextContinuationToken>`
        : "<IsTruncated>false</IsTruncated>"
    const root = `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`
    return { status: 200, body: `${root}${next}${page.map(contents).join("")}</ListBucketResult>` }
  }

  function contents(key: string): string {
    const { bytes, etag, at } = objects.get(key) ?? put(key, Buffer.alloc(0))
    const time = at.toISOString()
    return `<Contents><Key>${escaped(key)}</Key><LastModified>${time}</LastModified><ETag>&quot;${etag}&quot;</ETag><Size>${bytes.length}</Size></Contents>`
  }

  const s3: S3Server = {
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    uploads,
    seen,
    fault: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
  return s3
}

/** Signature version 4, as AWS describes it. */
function isSigned({ method, headers }: IncomingMessage, { pathname, searchParams }: URL): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d+)\/([^/]+)\/s3\/aws4_request, SignedHeaders=(.*), Signature=(\w+)$/
  const [, id, day = "", region = "", names = "", signature] = pattern.exec(headers.authorization ?? "") ?? []
  const query = [...searchParams].map((pair) => pair.map(percent).join("=")).sort()
  const signed = names.split(";").map((name) => `${name}:${headers[name]}\n`)
  const hash = headers["x-amz-content-sha256"]
  const canonical = [method, pathname, query.join("&"), signed.join(""), names, hash].join("\n")
  const digest = createHash("sha256").update(canonical).digest("hex")
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], `${day}/${region}/s3/aws4_request`, digest].join("\n")
  const hmac = (key: string | Buffer, part: string) => createHmac("sha256", key).update(part).digest()
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`)
  return id === credentials.accessKeyId && hmac(key, text).toString("hex") === signature
}

function percent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function failure(status: number, code: string): Answer {
  return { status, body: errorXml(code) }
}

function errorXml(code = "Error", message = `This is ${code}.`): string {
  return `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>${escaped(message)}</Message></Error>`
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&#34;")
}

function md5(bytes: Buffer): Buffer {
  return createHash("md5").update(bytes).digest()
}
