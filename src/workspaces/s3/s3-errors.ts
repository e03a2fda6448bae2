// Converts failed responses and connections of S3 to AgentErrors.
import { AgentError, ConfigError, ConflictError, UnsupportedError } from "../../core/errors.ts"
import { notFoundError, workspaceError } from "../workspace-errors.ts"
import { elementText } from "./s3-xml.ts"

/** A response with an unexpected status. */
export interface S3FailedResponse {
  path: string
  bucket: string
  status: number
  headers: Headers
  body: string
}

export function toS3Error(trouble: S3FailedResponse): AgentError {
  const { path, bucket, status, headers, body } = trouble
  const code = elementText(body, "Code") ?? ""
  const said = [`HTTP ${status}`, code, elementText(body, "Message")].filter(Boolean).join(", ")
  const failed = `"${path}" in the bucket "${bucket}" is out of reach`
  const details = { path, bucket, status, code }
  const error = (as: string, why: string, retryable = false) =>
    workspaceError(as, path, `${failed}: ${why} (${said}).`, { retryable, details })

  if (code === "NoSuchKey") return notFoundError(path)
  if (code === "NoSuchBucket") {
    return new ConfigError(`There is no bucket "${bucket}" (${said}). Make it, or check its name, region and endpoint.`)
  }
  if (status >= 300 && status < 400) {
    const region = headers.get("x-amz-bucket-region") ?? elementText(body, "Region")
    const cure = region ? `It is in the region "${region}": set \`region\`.` : "Check `region` and `endpoint`."
    return new ConfigError(`The bucket "${bucket}" is elsewhere (${said}). ${cure}`)
  }
  if (status === 412 || code === "ConditionalRequestConflict") {
    return new ConflictError(
      `"${path}" was not written: it was changed meanwhile (${said}). Read it again, then decide.`,
      {
        details,
      },
    )
  }
  if (status === 501) return new UnsupportedError(`The service of the bucket "${bucket}" cannot do this (${said}).`)
  if (isExpiredCredentials(code)) return error("authentication", "the credentials have expired; renew them")
  if (status === 401 || credentialCodes.includes(code))
    return error("authentication", "check the credentials and the clock")
  if (status === 403) {
    return error(
      "permission-denied",
      "these credentials may not; without s3:ListBucket also what is missing is forbidden",
    )
  }
  if (status === 429 || code === "SlowDown") return error("rate-limited", "too many requests; try later", true)
  if (status >= 500 || status === 408) return error("server-error", "the service failed; try later", true)
  return error("invalid-response", "the service refused it, or is no S3; check the endpoint")
}

export function isExpiredCredentials(code: string): boolean {
  return ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"].includes(code)
}

const credentialCodes = [
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "InvalidToken",
  "AuthorizationHeaderMalformed",
  "RequestTimeTooSkewed",
]

/** The error for a connection that failed, before or during a response. */
export function toConnectionError(path: string, bucket: string, error: unknown): AgentError {
  if (error instanceof AgentError) return error
  const reason = reasonOf(error)
  const message = `"${path}" in the bucket "${bucket}" is out of reach: the connection failed (${reason}). Check the endpoint and the network.`
  return workspaceError("connection", path, message, { retryable: true, cause: error })
}

export function s3TimeoutError(path: string, bucket: string, timeoutMs: number): AgentError {
  const message = `"${path}" in the bucket "${bucket}" is out of reach: nothing arrived for ${timeoutMs} ms. Try later, or raise timeoutMs.`
  return workspaceError("timeout", path, message, { retryable: true })
}

export function s3TruncatedError(path: string, bucket: string): AgentError {
  const message = `"${path}" in the bucket "${bucket}" is out of reach: the answer was cut short. Try later.`
  return workspaceError("truncated", path, message, { retryable: true })
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof Error) return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message
  return error.message
}
