import { AgentError, ConflictError } from "../core/errors.ts"
import { type Range, stopIfAborted } from "./data.ts"
import { notFound, workspaceError } from "./failure.ts"
import type { S3Answer, S3Client } from "./s3-client.ts"
import { cutShort } from "./s3-failure.ts"
import type { S3Settings } from "./s3-options.ts"
import { bare, etagIn, timeIn } from "./s3-tags.ts"
import { elementsOf, isWhole, textOf } from "./s3-xml.ts"
import type { FileInfo, StopOptions } from "./workspace.ts"

export interface S3Reader {
  stat(path: string, options: StopOptions): Promise<FileInfo | undefined>
  /** One version of a file, this one if it is named. When the connection breaks, the rest of that version is asked for. */
  begin(path: string, range: Range, options: StopOptions, etag?: string): Promise<Begun>
  /** The objects whose keys begin so, in S3's order; `path` is for errors. */
  objects(prefix: string, path: string, options: StopOptions): AsyncIterable<FileInfo>
}

interface Begun {
  /** Undefined when the service does not say. */
  size: number | undefined
  pieces: AsyncIterable<Uint8Array>
}

export function s3Reader(client: S3Client, { bucket, prefix, retries }: S3Settings): S3Reader {
  async function stat(path: string, { signal }: StopOptions): Promise<FileInfo | undefined> {
    const target = { path, key: prefix + path, signal }
    const { status, headers } = await client.ask({ ...target, method: "HEAD", also: [404] })
    if (status !== 404) return infoOf(path, headers)
    // A missing bucket, or a server that is no S3, answers the same; only a body tells them apart.
    const found = await client.open({ ...target, method: "GET" }).catch(undefinedIfMissing)
    await found?.letGo()
    return found && infoOf(path, found.headers)
  }

  async function begin(path: string, range: Range, options: StopOptions, etag?: string): Promise<Begun> {
    if (range.start === range.end) {
      if (await stat(path, options)) return nothing
      throw notFound(path)
    }
    const first = await open(path, range, etag, options)
    if (!first) return nothing
    return { size: lengthOf(first.headers), pieces: pieces(path, range, first, options) }
  }

  async function* pieces(path: string, range: Range, first: S3Answer, options: StopOptions) {
    const etag = etagIn(first.headers)
    let answer: S3Answer | undefined = first
    let { start } = range
    for (let failures = 0; answer; ) {
      try {
        for await (const chunk of answer.body()) {
          const piece = chunk.subarray(0, range.end - start)
          start += piece.length
          failures = 0
          if (piece.length > 0) yield piece
        }
        return
      } catch (error) {
        stopIfAborted(options.signal)
        if (!(error instanceof AgentError && error.retryable) || ++failures > retries) throw error
      } finally {
        await answer.letGo()
      }
      answer = await open(path, { start, end: range.end }, etag, options)
    }
  }

  /** Undefined where the range begins at the end of the file, or after it. */
  async function open(path: string, { start, end }: Range, etag: string | undefined, { signal }: StopOptions) {
    const isPart = start > 0 || end !== Infinity
    const headers = {
      ...(isPart && { range: `bytes=${start}-${end === Infinity ? "" : end - 1}` }),
      ...(etag !== undefined && { "if-match": `"${etag}"` }),
    }
    const answer = await client.open({ method: "GET", path, key: prefix + path, headers, also: [412, 416], signal })
    const trouble = troubleWith(answer, isPart, etag)
    if (answer.status !== 416 && !trouble) return answer
    await answer.letGo()
    if (answer.status === 416) return undefined
    if (trouble === "changed") {
      throw new ConflictError(`"${path}" was changed while it was read. Read it again.`, { details: { path } })
    }
    throw workspaceError("invalid-response", path, `"${path}" in the bucket "${bucket}" cannot be read: ${trouble}.`)
  }

  async function* objects(start: string, path: string, { signal }: StopOptions): AsyncGenerator<FileInfo> {
    for (let token: string | undefined; ; ) {
      const query = { "list-type": "2", prefix: start, ...(token !== undefined && { "continuation-token": token }) }
      const { text } = await client.ask({ method: "GET", path, query, signal })
      if (!isWhole(text, "ListBucketResult")) throw cutShort(path, bucket)
      for (const entry of elementsOf(text, "Contents")) {
        stopIfAborted(signal)
        yield listed(entry)
      }
      if (textOf(text, "IsTruncated") !== "true") return
      token = textOf(text, "NextContinuationToken")
      if (token === undefined) throw cutShort(path, bucket)
    }
  }

  return { stat, begin, objects }
}

/** For what rejects with `not-found`: that is an answer too. */
export function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof AgentError && error.code === "not-found") return undefined
  throw error
}

const nothing = { size: 0, pieces: { async *[Symbol.asyncIterator]() {} } }

function troubleWith({ status, headers }: S3Answer, isPart: boolean, etag: string | undefined): string | undefined {
  if (status === 416) return undefined
  if (status === 412 || (etag !== undefined && etagIn(headers) !== etag)) return "changed"
  if (isPart && status !== 206) return "the service ignores ranges"
  // Undone on arrival, so that sizes and ranges would be those of something else.
  if (headers.has("content-encoding")) return "it is stored with a Content-Encoding"
  return undefined
}

function infoOf(path: string, headers: Headers): FileInfo {
  const [size, etag] = [lengthOf(headers), etagIn(headers)]
  if (size !== undefined && etag !== undefined) return { path, size, modifiedAt: timeIn(headers), etag }
  throw workspaceError("invalid-response", path, `"${path}" is there, and the service does not tell its size and ETag.`)
}

function listed(entry: string): FileInfo {
  return {
    path: textOf(entry, "Key") ?? "",
    size: Number(textOf(entry, "Size")),
    modifiedAt: Date.parse(textOf(entry, "LastModified") ?? ""),
    etag: bare(textOf(entry, "ETag")) ?? "",
  }
}

function lengthOf(headers: Headers): number | undefined {
  const length = headers.get("content-length")
  return length === null ? undefined : Number(length)
}
