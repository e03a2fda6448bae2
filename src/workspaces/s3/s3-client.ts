// Sends signed requests to S3, with maxRetries and time-outs.
import { createHash } from "node:crypto"
import { setTimeout as after } from "node:timers/promises"
import { AgentError } from "../../core/errors.ts"
import { importOptionalPackage } from "../../core/optional-package.ts"
import { abortError } from "../../core/run.ts"
import { timerMs } from "../../core/time-limit.ts"
import { isExpiredCredentials, s3TimeoutError, s3TruncatedError, toConnectionError, toS3Error } from "./s3-errors.ts"
import type { S3Credentials, S3Settings } from "./s3-options.ts"
import { type RequestTimer, startRequestTimer } from "./s3-timeout.ts"

/** A request. Without a key it goes to the bucket. */
export interface S3Request {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE"
  key?: string | undefined
  query?: { [name: string]: string } | undefined
  headers?: { [name: string]: string } | undefined
  body?: Uint8Array | undefined
  /** The path in the workspace, for error messages. */
  path: string
  /** Error statuses that are returned instead of thrown. */
  acceptedStatuses?: readonly number[] | undefined
  signal?: AbortSignal | undefined
}

export interface S3Response {
  status: number
  headers: Headers
  /** The body, which can be read once. A caller that does not read it must call `discard`. */
  body(): AsyncGenerator<Uint8Array>
  discard(): Promise<void>
  /** True if an earlier attempt failed in a way that leaves open whether it took effect. */
  wasRetried: boolean
}

export interface S3Client {
  /** Returns the response when its headers have arrived. Retries temporary failures. */
  send(request: S3Request): Promise<S3Response>
  /** Returns the response with its complete text. */
  sendForText(request: S3Request): Promise<S3Response & { text: string }>
}

export function createS3Client(settings: S3Settings): S3Client {
  const { bucket, url, region, maxRetries, firstDelayMs, timeoutMs, canRenew } = settings
  let known: Promise<S3Credentials> | undefined

  async function withRetries<T>(request: S3Request, consume: (answer: S3Response) => Promise<T>): Promise<T> {
    const { path, signal } = request
    let wasRetried = false
    let renewed = false
    for (let attempt = 1; ; attempt++) {
      try {
        return await consume(await sendOnce(request, wasRetried))
      } catch (thrown) {
        if (signal?.aborted) throw abortError(signal)
        const error = toConnectionError(path, bucket, thrown)
        if (canRenew && !renewed && isExpiredCredentials(String(error.details?.code))) {
          renewed = true
          known = undefined
          continue
        }
        if (!error.retryable || error.code === "conflict" || attempt > maxRetries) throw error
        wasRetried = true
        const delayMs = firstDelayMs * 2 ** (attempt - 1) * (1 + Math.random() / 4)
        await after(timerMs(delayMs), undefined, { ...(signal && { signal }) }).catch(() => {})
      }
    }
  }

  async function sendOnce(request: S3Request, wasRetried: boolean): Promise<S3Response> {
    const { path, method, body, signal, acceptedStatuses = [] } = request
    const signed = await sign(request)
    // Even a slow connection transfers 100 bytes per millisecond.
    const limitMs = timeoutMs + (body?.length ?? 0) / 100
    const timer = startRequestTimer(signal, limitMs, () => s3TimeoutError(path, bucket, timeoutMs))
    try {
      const init = { method, headers: signed.headers, redirect: "manual", signal: timer.signal } as const
      const response = await fetch(signed.url, { ...init, ...(body && { body }) })
      const answer = answerOf(response, timer, request, wasRetried)
      if (response.ok || acceptedStatuses.includes(response.status)) return answer
      const { status, headers } = response
      throw toS3Error({ path, bucket, status, headers, body: await redacted(await readText(answer)) })
    } catch (error) {
      timer.stop()
      throw timer.reason() ?? error
    }
  }

  function answerOf(
    response: Response,
    timer: RequestTimer,
    { path, method }: S3Request,
    wasRetried: boolean,
  ): S3Response {
    const { status, headers } = response
    async function* body(): AsyncGenerator<Uint8Array> {
      let received = 0
      try {
        for await (const chunk of response.body ?? []) {
          received += chunk.length
          timer.pause()
          yield chunk
          timer.resume()
        }
      } catch (error) {
        throw timer.reason() ?? toConnectionError(path, bucket, error)
      } finally {
        timer.stop()
      }
      const length = headers.get("content-length")
      if (method !== "HEAD" && length !== null && Number(length) !== received) throw s3TruncatedError(path, bucket)
    }
    async function discard(): Promise<void> {
      timer.stop()
      await response.body?.cancel().catch(() => {})
    }
    return { status, headers, body, discard, wasRetried }
  }

  async function sign({ method, key, query, headers = {}, body }: S3Request): Promise<Request> {
    const { AwsClient } = await loadSigner()
    const { accessKeyId, secretAccessKey, sessionToken } = await credentials()
    const signer = new AwsClient({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken && { sessionToken }),
      service: "s3",
      region,
    })
    const address = new URL(url + encodeKey(key ?? ""))
    for (const [name, value] of Object.entries(query ?? {})) address.searchParams.set(name, value)
    // The service compares the body with this hash, so damaged data is never stored.
    const hash = createHash("sha256")
      .update(body ?? "")
      .digest("hex")
    return await signer.sign(address, { method, headers: { ...headers, "x-amz-content-sha256": hash } })
  }

  async function credentials(): Promise<S3Credentials> {
    known ??= Promise.resolve(settings.credentials())
    try {
      return await known
    } catch (error) {
      known = undefined
      throw new AgentError("The credentials of s3Workspace() could not be had; see the cause.", {
        code: "authentication",
        cause: error,
      })
    }
  }

  /** Removes secrets from an error text, because a service may repeat what it was sent. */
  async function redacted(text: string): Promise<string> {
    const { accessKeyId, secretAccessKey, sessionToken } = await credentials()
    const secrets = [secretAccessKey, sessionToken, accessKeyId].filter((secret) => secret !== undefined)
    return secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text)
  }

  return {
    send: (request) => withRetries(request, async (answer) => answer),
    sendForText: (request) => withRetries(request, async (answer) => ({ ...answer, text: await readText(answer) })),
  }
}

async function loadSigner() {
  const purpose = "s3Workspace(), which signs requests with it"
  return (await importOptionalPackage("aws4fetch", purpose)) as unknown as typeof import("aws4fetch")
}

async function readText(answer: S3Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of answer.body()) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

// As S3 signs it: in each name, everything except letters, digits and -._~ is escaped.
function encodeKey(key: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  const name = (text: string) => encodeURIComponent(text).replace(/[!'()*]/g, percent)
  return key.split("/").map(name).join("/")
}
