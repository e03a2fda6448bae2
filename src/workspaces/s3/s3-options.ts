// The options of `s3Workspace`, their checks and defaults.
import * as check from "../../core/checks/check-options.ts"
import { ConfigError } from "../../core/errors.ts"
import { cleanFolder } from "../workspace-path.ts"

export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

export interface S3Options {
  /** The name of the bucket. */
  bucket: string
  /** The folder in the bucket that is the workspace. Default: the whole bucket. */
  prefix?: string | undefined
  /** Default: the endpoint of AWS in the region. */
  endpoint?: string | undefined
  /** Default: AWS_REGION, or "us-east-1". R2 takes "auto". */
  region?: string | undefined
  /** A function is called at first use, and again when its credentials have expired. Default: AWS_ACCESS_KEY_ID,
   *  AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. */
  credentials?: S3Credentials | (() => S3Credentials | Promise<S3Credentials>) | undefined
  /** Where the bucket's name goes: `endpoint/bucket` or `bucket.endpoint`. Default: "virtual" for AWS, "path" if
   *  `endpoint` is set. */
  addressing?: "path" | "virtual" | undefined
  /** The most retries after the first attempt. Default 4. */
  maxRetries?: number | undefined
  /** The first delay. Each further delay is twice as long, plus up to a quarter. Default 200. */
  firstDelayMs?: number | undefined
  /** How long to wait while nothing arrives. Default 60,000. */
  timeoutMs?: number | undefined
  /** How much of a stream is held in memory and sent at once, at least 5 MiB; S3 accepts 10,000 parts. Default 8
   *  MiB. */
  partBytes?: number | undefined
}

const s3Checks: check.OptionChecks<S3Options> = {
  bucket: check.mustBeText,
  prefix: check.mustBeText,
  endpoint: check.mustBeText,
  region: check.mustBeText,
  credentials: mustBeCredentials,
  addressing: check.mustBeOneOf("path", "virtual"),
  maxRetries: check.mustBeLimit(0),
  firstDelayMs: check.mustBeIntegerFrom(0),
  timeoutMs: check.mustBeLimit(1),
  partBytes: check.mustBeIntegerFrom(1),
}

const isUnused: check.OptionCheck = () => undefined

function mustBeCredentials(value: unknown, path: string): ReturnType<check.OptionCheck> {
  if (typeof value === "function") return undefined
  const secret = check.mustBeSecret
  // Credentials of the AWS SDK have further fields.
  const more = { expiration: isUnused, accountId: isUnused, credentialScope: isUnused, $source: isUnused }
  return check.mustBeOptions({ accessKeyId: secret, secretAccessKey: secret, sessionToken: secret, ...more })(
    value,
    path,
  )
}

/** The checked options with their defaults. */
export interface S3Settings {
  bucket: string
  prefix: string
  /** The address that keys are appended to, with a trailing slash. */
  url: string
  region: string
  credentials(): S3Credentials | Promise<S3Credentials>
  /** True if asking for credentials again may return others. */
  canRenew: boolean
  maxRetries: number
  firstDelayMs: number
  timeoutMs: number
  partBytes: number
}

export function toS3Settings(options: S3Options): S3Settings {
  check.checkOptions("s3Workspace()", options, s3Checks)
  const {
    bucket,
    prefix = "",
    region = process.env.AWS_REGION || "us-east-1",
    credentials = credentialsFromEnvironment(),
  } = options
  const { maxRetries = 4, firstDelayMs = 200, timeoutMs = 60_000, partBytes = 8 * 2 ** 20 } = options
  if (!/^[a-zA-Z0-9][\w.-]+$/.test(bucket)) throw new ConfigError(`"${bucket}" is not the name of a bucket.`)
  if (partBytes < 5 * 2 ** 20) throw new ConfigError(`partBytes is ${partBytes}; S3 takes parts of at least 5 MiB.`)
  const renew = typeof credentials === "function" ? credentials : () => credentials
  const canRenew = typeof credentials === "function"
  const url = bucketUrl(options, region)
  return {
    bucket,
    prefix: toKeyPrefix(prefix),
    url,
    region,
    credentials: renew,
    canRenew,
    maxRetries,
    firstDelayMs,
    timeoutMs,
    partBytes,
  }
}

function toKeyPrefix(prefix: string): string {
  const folder = cleanFolder(prefix)
  return folder === "" ? "" : `${folder}/`
}

function bucketUrl({ bucket, endpoint, addressing }: S3Options, region: string): string {
  const { host, protocol, pathname, username, password } = parseEndpoint(
    endpoint ?? `https://s3.${region}.amazonaws.com`,
  )
  if (username || password) throw new ConfigError("An S3 endpoint has no user or password in it. Use `credentials`.")
  const folder = pathname.replace(/\/$/, "")
  if ((addressing ?? (endpoint ? "path" : "virtual")) === "virtual") return `${protocol}//${bucket}.${host}${folder}/`
  return `${protocol}//${host}${folder}/${bucket}/`
}

function parseEndpoint(endpoint: string): URL {
  const url = URL.parse(endpoint)
  if (url && ["http:", "https:"].includes(url.protocol)) return url
  throw new ConfigError(`"${endpoint}" is not an S3 endpoint. Write its address, such as "https://s3.example.com".`)
}

function credentialsFromEnvironment(): S3Credentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env
  if (AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY) {
    return { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY, sessionToken: AWS_SESSION_TOKEN }
  }
  throw new ConfigError(
    "s3Workspace() has no credentials. Give `credentials`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    { code: "missing-key" },
  )
}
