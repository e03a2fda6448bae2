// Turns the little Markdown of reports into HTML: paragraphs, lists, code, bold text and links.

export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
}

export function markdownToHtml(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter(Boolean)
    .map(blockToHtml)
    .join("\n")
}

function blockToHtml(block: string): string {
  if (!block.startsWith("- ")) return `<p>${inlineToHtml(block)}</p>`
  const items = block.split(/\n(?=- )/).map((item) => `<li>${inlineToHtml(item.slice(2))}</li>`)
  return `<ul>${items.join("")}</ul>`
}

function inlineToHtml(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replace(/\[([^\]]+)\]\((https?:[^)]+)\)/g, '<a href="$2">$1</a>')
}
