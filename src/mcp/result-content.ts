// Converts results of MCP servers to tool results (client), and text and images to MCP content (server).
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client"
import type { ImagePart } from "../core/message.ts"
import { type ToolResult, toolResult } from "../tools/tool.ts"

/** Text blocks become the text. Audio, links and binary resources become a short description in it. Structured content
 *  becomes the text only if there is none. */
export function fromMcpResult(result: CallToolResult): ToolResult {
  const { content = [], structuredContent, isError } = result
  const texts = content.map(blockText).filter((text) => text !== undefined)
  const text =
    texts.length > 0 || structuredContent === undefined ? texts.join("\n") : JSON.stringify(structuredContent)
  const images = content.flatMap((block) => (block.type === "image" ? [toImagePart(block)] : []))
  if (isError) return toolResult({ text: text || "The tool failed and did not say why.", code: "tool-failed", images })
  return toolResult({ text: text || (images.length > 0 ? "" : "Done."), images, value: structuredContent })
}

/** MCP images must be base64, so an image URL is sent as text. */
export function toContent(text: string, images: readonly ImagePart[] = []): ContentBlock[] {
  return [
    { type: "text", text },
    ...images.map(
      ({ data, mediaType }): ContentBlock =>
        /^https?:/.test(data) ? { type: "text", text: data } : { type: "image", data, mimeType: mediaType },
    ),
  ]
}

function toImagePart({ data, mimeType }: { data: string; mimeType: string }): ImagePart {
  return { type: "image", mediaType: mimeType, data }
}

function blockText(block: ContentBlock): string | undefined {
  switch (block.type) {
    case "text":
      return block.text
    case "image":
      return undefined
    case "audio":
      return `[audio, ${block.mimeType}, ${formatByteCount(block.data)}]`
    case "resource_link":
      return `[${block.title ?? block.name}: ${block.uri}]`
    case "resource": {
      const { resource } = block
      if ("text" in resource) return resource.text
      return `[${resource.uri}, ${resource.mimeType ?? "unknown type"}, ${formatByteCount(resource.blob)}]`
    }
    default:
      return "[something of a kind that is not known here]"
  }
}

function formatByteCount(base64: string): string {
  return `${Buffer.byteLength(base64, "base64")} bytes`
}
