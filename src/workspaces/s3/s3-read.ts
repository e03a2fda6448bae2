// Reads and lists objects of S3.
import { AgentError, ConflictError } from "../../core/errors.ts"
import { type ByteRange, throwIfAborted } from "../file-data.ts"
import type { FileInfo, StopOptions } from "../workspace.ts"
import { notFoundError, workspaceError } from "../workspace-errors.ts"
import type { S3Client, S3Response } from "./s3-client.ts"
import { s3TruncatedError } from "./s3-errors.ts"
import { etagOf, modifiedTimeOf, stripEtagQuotes } from "./s3-headers.ts"
import type { S3Settings } from "./s3-options.ts"
import { elementContents, elementText, isCompleteXml } from "./s3-xml.ts"

interface VersionStream {
  /** Undefined if the service does not report it. */
  size: number | undefined
  pieces: AsyncIterable<Uint8Array>
}

export function createS3Reader(client: S3Client, { bucket, prefix, maxRetries }: S3Settings) {
  async function stat(path: string, { signal }: StopOptions): Promise<FileInfo | undefined> {
    const target = { path, key: prefix + path, signal }
    const { status, headers } = await client.sendForText({ ...target, method: "HEAD", acceptedStatuses: [404] })
    if (status !== 404) return infoFromHeaders(path, headers)
    // A missing bucket and a server that is not S3 answer the same; only the body of a GET distinguishes them.
    const found = await client.send({ ...target, method: "GET" }).catch(undefinedIfMissing)
    await found?.discard()
    return found && infoFromHeaders(path, found.headers)
  }

  /** Opens a file, or the version with this etag. If the connection breaks, reads the rest of the same version. */
  async function openVersion(
    path: string,
    range: ByteRange,
    options: StopOptions,
    etag?: string,
  ): Promise<VersionStream> {
    if (range.start === range.end) {
      if (await stat(path, options)) return emptyStream
      throw notFoundError(path)
    }
    const first = await open(path, range, etag, options)
    if (!first) return emptyStream
    return { size: contentLength(first.headers), pieces: pieces(path, range, first, options) }
  }

  async function* pieces(path: string, range: ByteRange, first: S3Response, options: StopOptions) {
    const etag = etagOf(first.headers)
    let answer: S3Response | undefined = first
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
        throwIfAborted(options.signal)
        if (!(error instanceof AgentError && error.retryable) || ++failures > maxRetries) throw error
      } finally {
        await answer.discard()
      }
      answer = await open(path, { start, end: range.end }, etag, options)
    }
  }

  /** Undefined if the range begins at or after the end of the file. */
  async function open(path: string, { start, end }: ByteRange, etag: string | undefined, { signal }: StopOptions) {
    const isPart = start > 0 || end !== Infinity
    const headers = {
      ...(isPart && { range: `bytes=${start}-${end === Infinity ? "" : end - 1}` }),
      ...(etag !== undefined && { "if-match": `"${etag}"` }),
    }
    const answer = await client.send({
      method: "GET",
      path,
      key: prefix + path,
      headers,
      acceptedStatuses: [412, 416],
      signal,
    })
    const problem = responseProblem(answer, isPart, etag)
    if (answer.status !== 416 && !problem) return answer
    await answer.discard()
    if (answer.status === 416) return undefined
    if (problem === "changed") {
      throw new ConflictError(`"${path}" was changed while it was read. Read it again.`, { details: { path } })
    }
    throw workspaceError("invalid-response", path, `"${path}" in the bucket "${bucket}" cannot be read: ${problem}.`)
  }

  /** Lists the objects whose keys begin with `start`, in S3's order. `path` is for error messages. */
  async function* listObjects(start: string, path: string, { signal }: StopOptions): AsyncGenerator<FileInfo> {
    for (let token: string | undefined; ; ) {
      const query = { "list-type": "2", prefix: start, ...(token !== undefined && { "continuation-token": token }) }
      const { text } = await client.sendForText({ method: "GET", path, query, signal })
      if (!isCompleteXml(text, "ListBucketResult")) throw s3TruncatedError(path, bucket)
      for (const entry of elementContents(text, "Contents")) {
        throwIfAborted(signal)
        yield infoFromListing(entry)
      }
      if (elementText(text, "IsTruncated") !== "true") return
      token = elementText(text, "NextContinuationToken")
      if (token === undefined) throw s3TruncatedError(path, bucket)
    }
  }

  return { stat, openVersion, listObjects }
}

/** Converts a rejection with `not-found` to undefined. */
export function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof AgentError && error.code === "not-found") return undefined
  throw error
}

const emptyStream = { size: 0, pieces: { async *[Symbol.asyncIterator]() {} } }

function responseProblem(
  { status, headers }: S3Response,
  isPart: boolean,
  etag: string | undefined,
): string | undefined {
  if (status === 416) return undefined
  if (status === 412 || (etag !== undefined && etagOf(headers) !== etag)) return "changed"
  if (isPart && status !== 206) return "the service ignores ranges"
  // It would be decoded on arrival, so sizes and ranges would not match.
  if (headers.has("content-encoding")) return "it is stored with a Content-Encoding"
  return undefined
}

function infoFromHeaders(path: string, headers: Headers): FileInfo {
  const [size, etag] = [contentLength(headers), etagOf(headers)]
  if (size !== undefined && etag !== undefined)
    return { path, sizeBytes: size, modifiedAt: modifiedTimeOf(headers), etag }
  throw workspaceError("invalid-response", path, `"${path}" is there, and the service does not tell its size and ETag.`)
}

function infoFromListing(entry: string): FileInfo {
  return {
    path: elementText(entry, "Key") ?? "",
    sizeBytes: Number(elementText(entry, "Size")),
    modifiedAt: Date.parse(elementText(entry, "LastModified") ?? ""),
    etag: stripEtagQuotes(elementText(entry, "ETag")) ?? "",
  }
}

function contentLength(headers: Headers): number | undefined {
  const length = headers.get("content-length")
  return length === null ? undefined : Number(length)
}
