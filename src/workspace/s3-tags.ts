/** The version that headers tell of, as we give it out: without quotes. */
export function etagIn(headers: Headers): string | undefined {
  return bare(headers.get("etag") ?? undefined)
}

export function bare(etag: string | undefined): string | undefined {
  return etag?.replace(/^(W\/)?"|"$/g, "")
}

/** When it was written, by the clock of the service. */
export function timeIn(headers: Headers): number {
  return Date.parse(headers.get("last-modified") ?? headers.get("date") ?? "") || Date.now()
}
