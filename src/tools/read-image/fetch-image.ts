// Downloads images without giving the model access to the private network.
import { lookup } from "node:dns"
import { type IncomingMessage, request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { BlockList, isIP, type LookupFunction } from "node:net"
import { AgentError } from "../../core/errors.ts"

export type UrlAccess = "public" | "any" | "none"

export interface FetchImageOptions {
  urls: UrlAccess
  maxBytes: number
  signal: AbortSignal
}

/** Returns the bytes of a URL; one more than allowed if there are too many. Every address is checked before
 *  connecting, also after redirects. The checked address is the one used, so a host name cannot change to another
 *  address in between. */
export async function fetchImage(address: string, options: FetchImageOptions): Promise<Uint8Array> {
  let url = checkedUrl(address, options)
  for (let redirects = 0; ; redirects++) {
    const response = await requestUrl(url, options)
    const { statusCode = 0, headers } = response
    const isRedirect = statusCode >= 300 && statusCode < 400 && headers.location !== undefined
    if (!isRedirect) return await readBody(response, url, options)
    response.destroy()
    if (redirects === 5) throw fetchError(address, "it redirects too often")
    url = checkedUrl(URL.parse(headers.location ?? "", url.href)?.href ?? "", options)
  }
}

function checkedUrl(address: string, { urls }: FetchImageOptions): URL {
  const url = URL.parse(address)
  const shown = address.length > 100 ? `${address.slice(0, 100)}…` : address
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    throw urlNotAllowedError(
      `${shown} cannot be read: only paths of the workspace, http: and https: can. Save it as a file first.`,
    )
  }
  if (urls === "none")
    throw urlNotAllowedError(`${shown} cannot be read: URLs are not allowed here. Use a file of the workspace.`)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  if (urls === "public" && isIP(host) !== 0 && !isPublic(host)) throw urlNotAllowedError(notPublicMessage(url, host))
  return url
}

async function requestUrl(url: URL, { urls, signal }: FetchImageOptions): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
    signal,
    agent: false,
    headers: { accept: "image/*", "accept-encoding": "identity", "user-agent": "karst" },
    ...(urls === "public" && { lookup: publicLookup(url) }),
  })
  request.once("response", resolve)
  // An error after the response has begun is reported by reading the response.
  request.on("error", (error) =>
    reject(error instanceof AgentError || signal.aborted ? error : fetchError(url.href, error.message, error)),
  )
  request.end()
  return await promise
}

async function readBody(
  response: IncomingMessage,
  url: URL,
  { maxBytes, signal }: FetchImageOptions,
): Promise<Uint8Array> {
  const { statusCode = 0 } = response
  try {
    if (statusCode !== 200) throw fetchError(url.href, `the server answered ${statusCode}`)
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of response) {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) break
    }
    return Buffer.concat(chunks).subarray(0, maxBytes + 1)
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof AgentError
      ? error
      : fetchError(url.href, error instanceof Error ? error.message : String(error), error)
  } finally {
    response.destroy()
  }
}

// Called by the request itself, so the checked addresses are those that are used.
function publicLookup(url: URL): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const publicAddresses = addresses.filter(({ address }) => isPublic(address))
      const [first] = publicAddresses
      if (!first) return callback(urlNotAllowedError(notPublicMessage(url, host)), [])
      if (options.all) callback(null, publicAddresses)
      else callback(null, first.address, first.family)
    })
  }
}

// BlockList checks an IPv4 address that is written as IPv6 as IPv4.
function isPublic(address: string): boolean {
  return !nonPublicAddresses.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")
}

const nonPublicAddresses = new BlockList()
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  nonPublicAddresses.addSubnet(network, bits, "ipv4")
}
for (const [network, bits] of [
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  nonPublicAddresses.addSubnet(network, bits, "ipv6")
}

function notPublicMessage(url: URL, host: string): string {
  return `${url.href} cannot be read: ${host} is not an address on the public internet. Use a file of the workspace.`
}

function urlNotAllowedError(message: string): AgentError {
  return new AgentError(message, { code: "url-not-allowed" })
}

function fetchError(url: string, why: string, cause?: unknown): AgentError {
  return new AgentError(`${url} could not be read: ${why}. Check the URL.`, { code: "fetch-failed", cause })
}
