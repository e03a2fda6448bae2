// Converts between MCP content and tool results.
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client"
import type { ImagePart } from "../core/message.ts"
import { type ToolResult, toolResult } from "../tools/tool.ts"

/** Converts the result of an MCP server: texts and notes about other content become the text; images stay images. */
export function toToolResult(result: CallToolResult): ToolResult {
  const { content = [], structuredContent, isError } = result
  const texts = content.map(blockText).filter((text) => text !== undefined)
  const text =
    texts.length > 0 || structuredContent === undefined ? texts.join("\n") : JSON.stringify(structuredContent)
  const images = content.flatMap((block) => (block.type === "image" ? [toImagePart(block)] : []))
  if (isError) return toolResult({ text: text || "The tool failed and did not say why.", code: "tool-failed", images })
  return toolResult({ text: text || (images.length > 0 ? "" : "Done."), images, value: structuredContent })
}

/** Converts text and images to MCP content. */
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
      return `[audio, ${block.mimeType}, ${byteCount(block.data)}]`
    case "resource_link":
      return `[${block.title ?? block.name}: ${block.uri}]`
    case "resource": {
      const { resource } = block
      if ("text" in resource) return resource.text
      return `[${resource.uri}, ${resource.mimeType ?? "unknown type"}, ${byteCount(resource.blob)}]`
    }
    default:
      return "[something of a kind that is not known here]"
  }
}

function byteCount(base64: string): string {
  return `${Buffer.byteLength(base64, "base64")} bytes`
}
