// Writes objects to S3, in one request or in parts.
import { createHash } from "node:crypto"
import { ConflictError } from "../../core/errors.ts"
import type { FileInfo } from "../workspace.ts"
import { conflictError, workspaceError } from "../workspace-errors.ts"
import type { S3Client, S3Request, S3Response } from "./s3-client.ts"
import { s3TruncatedError, toS3Error } from "./s3-errors.ts"
import { etagOf, modifiedTimeOf, stripEtagQuotes } from "./s3-headers.ts"
import type { S3Settings } from "./s3-options.ts"
import { elementText, isCompleteXml } from "./s3-xml.ts"

export interface Upload {
  path: string
  key: string
  /** The version to replace; null: none may exist. */
  ifMatch: string | null | undefined
  signal: AbortSignal | undefined
}

export function createS3Uploader(client: S3Client, { bucket, partBytes }: S3Settings) {
  /** Sends everything in one request. Nothing is stored unless all of it arrives. */
  async function put(upload: Upload, bytes: Uint8Array): Promise<FileInfo> {
    const request: S3Request = {
      ...targetOf(upload),
      method: "PUT",
      headers: conditionHeaders(upload),
      body: bytes,
      acceptedStatuses: [412],
    }
    const answer = await client.sendForText(request)
    if (answer.status !== 412) return uploadedInfo(upload.path, etagOf(answer.headers), answer.headers, bytes.length)
    return await resolveCondition(upload, answer, md5(bytes).toString("hex"), bytes.length)
  }

  /** Sends a stream, holding one part in memory at a time. A stream that fits into one part is sent with `put`. */
  async function putStream(upload: Upload, chunks: AsyncIterable<Uint8Array>): Promise<FileInfo> {
    const parts = splitIntoParts(chunks, partBytes)
    const first = await parts.next()
    if (first.done) return await put(upload, new Uint8Array(0))
    if (first.value.length < partBytes) return await put(upload, first.value)
    return await putParts(upload, first.value, parts)
  }

  async function putParts(upload: Upload, first: Uint8Array, rest: AsyncIterable<Uint8Array>): Promise<FileInfo> {
    const { text } = await client.sendForText({ ...targetOf(upload), method: "POST", query: { uploads: "" } })
    const uploadId = elementText(text, "UploadId")
    if (!uploadId) throw s3TruncatedError(upload.path, bucket)
    const sent: { etag: string; md5: Buffer }[] = []
    let size = 0
    const send = async (part: Uint8Array) => {
      const query = { partNumber: String(sent.length + 1), uploadId }
      const { headers } = await client.sendForText({ ...targetOf(upload), method: "PUT", query, body: part })
      sent.push({ etag: etagOf(headers) ?? "", md5: md5(part) })
      size += part.length
    }
    try {
      await send(first)
      for await (const part of rest) await send(part)
      return await complete(upload, uploadId, sent, size)
    } catch (error) {
      await abortUpload(upload, uploadId)
      throw error
    }
  }

  // Parts of an incomplete upload are stored, and paid for, until the upload is aborted. Does not wait long for that.
  async function abortUpload(upload: Upload, uploadId: string): Promise<void> {
    const target = targetOf({ ...upload, signal: AbortSignal.timeout(5000) })
    await client
      .sendForText({ ...target, method: "DELETE", query: { uploadId }, acceptedStatuses: [404] })
      .catch(() => {})
  }

  async function complete(
    upload: Upload,
    uploadId: string,
    sent: readonly { etag: string; md5: Buffer }[],
    size: number,
  ): Promise<FileInfo> {
    const listed = sent.map(
      ({ etag }, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`,
    )
    const body = new TextEncoder().encode(`<CompleteMultipartUpload>${listed.join("")}</CompleteMultipartUpload>`)
    const headers = { ...conditionHeaders(upload), "content-type": "application/xml" }
    const request: S3Request = {
      ...targetOf(upload),
      method: "POST",
      query: { uploadId },
      headers,
      body,
      acceptedStatuses: [404, 412],
    }
    const answer = await client.sendForText(request)
    const { status, text } = answer
    if (status === 200 && isCompleteXml(text, "CompleteMultipartUploadResult")) {
      return uploadedInfo(upload.path, stripEtagQuotes(elementText(text, "ETag")), answer.headers, size)
    }
    // If the operation fails after the response has begun, the error is in the body of a response with status 200.
    if (status === 200) {
      const failed = { path: upload.path, bucket, status: 500, headers: answer.headers, body: text }
      throw text.includes("<Error>") ? toS3Error(failed) : s3TruncatedError(upload.path, bucket)
    }
    const whole = createHash("md5").update(Buffer.concat(sent.map(({ md5 }) => md5)))
    return await resolveCondition(upload, answer, `${whole.digest("hex")}-${sent.length}`, size)
  }

  /** Handles a failed condition or a missing upload. If an earlier attempt took effect without our receiving the
   *  response, the stored object is what we sent, and the write succeeded. */
  async function resolveCondition(upload: Upload, answer: S3Response, etag: string, size: number): Promise<FileInfo> {
    const { path, ifMatch } = upload
    if (answer.wasRetried) {
      const { status, headers } = await client.sendForText({
        ...targetOf(upload),
        method: "HEAD",
        acceptedStatuses: [404],
      })
      const found = etagOf(headers)
      if (status === 200 && found?.toLowerCase() === etag) return uploadedInfo(path, found, headers, size)
    }
    if (answer.status === 404) {
      throw workspaceError("server-error", path, `"${path}" was not written: its upload was dropped. Try again.`, {
        retryable: true,
      })
    }
    if (!answer.wasRetried) throw conflictError(path, ifMatch ?? null)
    throw new ConflictError(
      `"${path}" was changed meanwhile, and an attempt to write it went unanswered: it may have been done. Read it, then decide.`,
      { retryable: false, details: { path } },
    )
  }

  return { put, putStream }
}

function targetOf({ path, key, signal }: Upload) {
  return { path, key, signal }
}

function conditionHeaders({ ifMatch }: Upload): { [name: string]: string } {
  if (ifMatch === undefined) return {}
  return ifMatch === null ? { "if-none-match": "*" } : { "if-match": `"${ifMatch}"` }
}

function uploadedInfo(path: string, etag: string | undefined, headers: Headers, size: number): FileInfo {
  if (etag) return { path, sizeBytes: size, modifiedAt: modifiedTimeOf(headers), etag }
  throw workspaceError("invalid-response", path, `"${path}" was written, and the service did not say its ETag.`)
}

function md5(bytes: Uint8Array): Buffer {
  return createHash("md5").update(bytes).digest()
}

/** Splits chunks into parts of one size; the last one is shorter. All parts share one buffer: a part must be
 *  processed before the next is requested. */
async function* splitIntoParts(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  const part = new Uint8Array(size)
  let filled = 0
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      const piece = chunk.subarray(from, from + size - filled)
      part.set(piece, filled)
      filled += piece.length
      from += piece.length
      if (filled < size) continue
      yield part
      filled = 0
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}
