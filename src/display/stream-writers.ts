// Draws streamed prose, code and notes with a prefix on each line.
import { createHighlighter, type Segment } from "./highlight.ts"
import { createMarkdown } from "./markdown.ts"
import type { Paint } from "./paint.ts"
import { createSafeStream } from "./safe-text.ts"
import type { Screen } from "./screen.ts"
import { createTextFlow } from "./text-flow.ts"
import { textWidth } from "./text-width.ts"

/** Draws text from others in pieces of any size. While it is open, no status is shown. */
export interface StreamWriter {
  add(text: string): void
  end(): void
}

// Longer lines are hard to read on a wide terminal. Without a terminal, lines are not wrapped.
const maxProseColumns = 100

/** Draws Markdown next to a mark. */
export function createProseWriter(screen: Screen, mark: string, paintMark: Paint): StreamWriter {
  screen.setStatus(undefined)
  screen.ensureBlankLine()
  const prefix = { first: mark, rest: " ".repeat(mark.length), paintPrefix: paintMark }
  const flow = createTextFlow(screen, { ...prefix, columns: proseColumns(screen) })
  const markdown = createMarkdown(flow, screen.paint, Math.min(proseColumns(screen), maxProseColumns) - mark.length)
  const safe = createSafeStream()
  return {
    add: (text) => markdown.add(safe.add(text)),
    end() {
      markdown.add(safe.end())
      markdown.end()
      flow.end()
    },
  }
}

/** Draws code next to a bar. */
export function createCodeWriter(screen: Screen, language: string): StreamWriter {
  screen.setStatus(undefined)
  screen.ensureBlankLine()
  const { paint } = screen
  const bar = { first: "  │ ", rest: "  │ ", paintPrefix: paint.blue }
  const flow = createTextFlow(screen, { ...bar, hangingIndent: 4 })
  const highlighter = createHighlighter(language)
  const safe = createSafeStream()
  const draw = (segments: Segment[]) => {
    for (const { text, style } of segments) flow.add(text, paint[style])
  }
  return {
    add: (text) => draw(highlighter.add(safe.add(text))),
    end() {
      draw(highlighter.add(safe.end()))
      draw(highlighter.end())
      flow.end()
    },
  }
}

/** Writes a short text of ours next to a mark. It must be free of control sequences. */
export function writeNote(screen: Screen, mark: string, text: string, paint: Paint): void {
  const prefix = { first: mark, rest: " ".repeat(mark.length), paintPrefix: paint }
  const flow = createTextFlow(screen, { ...prefix, columns: proseColumns(screen) })
  flow.add(text, paint)
  flow.end()
}

/** Writes texts of several styles on a new line next to a mark, wrapped at the width of the screen. */
export function writeWrapped(
  screen: Screen,
  { mark, paintMark }: { mark: string; paintMark?: Paint | undefined },
  ...texts: readonly { text: string; paint?: Paint | undefined }[]
): void {
  screen.writeLines()
  const flow = createTextFlow(screen, { first: mark, rest: " ".repeat(textWidth(mark)), paintPrefix: paintMark })
  for (const { text, paint } of texts) flow.add(text, paint)
  flow.end()
}

function proseColumns({ columns }: Screen): number {
  return columns === Number.POSITIVE_INFINITY ? columns : Math.min(columns, maxProseColumns)
}
