// The tool `read_image`: shows the model an image from the workspace or a URL.
import * as z from "zod"
import { anything, checkOptions, mustBeLimit } from "../core/checks/check-options.ts"
import { sizeText } from "./files/file-results.ts"
import { useFiles } from "./files/karst-files.ts"
import { fetchImage, type UrlAccess } from "./read-image/fetch-image.ts"
import { detectImageType, imageNames } from "./read-image/image-type.ts"
import { type Tool, type ToolContext, type ToolResult, tool, toolFailure, toolResult } from "./tool.ts"

export interface ReadImageOptions {
  /** Which URLs may be fetched: those with public addresses, any, or none. Default `public`; otherwise a page that
   *  the model has read could make it access your network. */
  urls?: UrlAccess | undefined
  /** Default 30,000. */
  timeoutMs?: number | undefined
}

/** Shows the model an image of the workspace or of a URL. */
export function readImageTool(options: ReadImageOptions = {}): Tool {
  checkOptions("readImageTool()", options, { urls: anything, timeoutMs: mustBeLimit(1) })
  const { urls = "public", timeoutMs = 30_000 } = options
  return tool({
    name: "read_image",
    description: `Shows you an image (${imageNames}; up to 5 MB).`,
    input: z.strictObject({ path: z.string().describe(urls === "none" ? "Path." : "Path, or http(s) URL.") }),
    sideEffect: false,
    parallel: true,
    timeoutMs,
    run: ({ path }, context) => useFiles(context, (files) => readImage(path.trim(), urls, files)),
  })
}

async function readImage(path: string, urls: UrlAccess, { workspace, signal }: ToolContext): Promise<ToolResult> {
  const isUrl = /^(?:[a-z]+:\/\/|data:|blob:|file:)/i.test(path)
  const bytes = isUrl
    ? await fetchImage(path, { urls, maxBytes, signal })
    : await workspace.read(path, { end: maxBytes + 1, signal })
  const name = isUrl ? path : `"${path}"`
  if (bytes.length > maxBytes) {
    return toolFailure("image-too-large", `${name} is larger than ${sizeText(maxBytes)}. Make it smaller first.`)
  }
  const type = detectImageType(bytes)
  if (!type) return toolFailure("unsupported-image", `${name} is no image of these kinds: ${imageNames}.`)
  const { mediaType } = type
  return toolResult({
    text: `Loaded ${path} (${mediaType}, ${sizeText(bytes.length)}).`,
    images: [
      { type: "image", mediaType, data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64") },
    ],
  })
}

const maxBytes = 5_000_000
