// Detects the type of an image by its first bytes.

export interface ImageType {
  mediaType: string
  /** The file extension. */
  name: string
}

/** Returns the image type that starts with these bytes, whatever the file's name. */
export function detectImageType(bytes: Uint8Array): ImageType | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1")
  const name = imageSignatures.find(([, mark]) => mark.test(start))?.[0]
  return name === undefined ? undefined : { name, mediaType: `image/${name}` }
}

/** The supported types, for messages. */
export const imageNames = "png, jpeg, webp, gif, bmp"

const imageSignatures: [string, RegExp][] = [
  ["png", /^\x89PNG\r\n\x1a\n/],
  ["jpeg", /^\xff\xd8\xff/],
  ["gif", /^GIF8[79]a/],
  ["webp", /^RIFF.{4}WEBP/s],
  // Many texts start with "BM", so the four reserved bytes after the size, which are always 0, are checked too.
  ["bmp", /^BM.{4}\0{4}/s],
]
