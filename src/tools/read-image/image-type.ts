export interface ImageType {
  mediaType: string
  /** As in the names of such files. */
  name: string
}

/** What kind of image begins with these bytes, whatever its file is called. */
export function detectImageType(bytes: Uint8Array): ImageType | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1")
  const name = imageSignatures.find(([, mark]) => mark.test(start))?.[0]
  return name === undefined ? undefined : { name, mediaType: `image/${name}` }
}

/** The kinds that are known, for people. */
export const imageNames = "png, jpeg, webp, gif, bmp"

const imageSignatures: [string, RegExp][] = [
  ["png", /^\x89PNG\r\n\x1a\n/],
  ["jpeg", /^\xff\xd8\xff/],
  ["gif", /^GIF8[79]a/],
  ["webp", /^RIFF.{4}WEBP/s],
  // Two letters alone begin many texts: the four reserved bytes behind the size are always 0.
  ["bmp", /^BM.{4}\0{4}/s],
]
