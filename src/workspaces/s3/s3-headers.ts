// Reads version and time from response headers.

/** The version, without quotes. */
export function etagOf(headers: Headers): string | undefined {
  return stripEtagQuotes(headers.get("etag") ?? undefined)
}

export function stripEtagQuotes(etag: string | undefined): string | undefined {
  return etag?.replace(/^(W\/)?"|"$/g, "")
}

/** When the object was written, by the clock of the service. */
export function modifiedTimeOf(headers: Headers): number {
  return Date.parse(headers.get("last-modified") ?? headers.get("date") ?? "") || Date.now()
}
