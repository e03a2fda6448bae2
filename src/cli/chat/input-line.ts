// The input of the terminal chat: combines the line editor with history, completion and the layout.
import { truncateToWidth } from "../../display/text-width.ts"
import { type EditorLayout, layoutEditor } from "./editor-view.ts"
import type { InputHistory } from "./history.ts"
import type { Key } from "./keys.ts"
import { editedText, emptyText, insertText, pressEditKey, replaceBeforeCursor } from "./line-editor.ts"
import type { LiveScreen } from "./live-screen.ts"
import { commonStart, completePath, mentionAt, mentionText } from "./mentions.ts"
import { completeSlash, slashCommands } from "./slash-commands.ts"

export interface InputLine {
  readonly isEmpty: boolean
  /** Applies a key. Returns the text if the key sends it; the line is then empty. */
  press(key: Key): string | undefined
  set(text: string): void
  /** Returns false if it was empty already. */
  clear(): boolean
  layout(hint: string | undefined): EditorLayout
}

interface Suggestion {
  /** What replaces the text from `start` up to the cursor. */
  text: string
  start: number
  /** Shown beside it. */
  note: string
}

const maxSuggestions = 6

export function createInputLine({
  screen,
  history,
  cwd,
}: {
  screen: LiveScreen
  history: InputHistory
  cwd: string
}): InputLine {
  let edited = emptyText
  let suggestions: Suggestion[] = []

  function change(next: typeof edited): void {
    edited = next
    suggestions = slashSuggestions(edited.text, edited.cursor)
    void suggestPaths()
  }

  async function suggestPaths(): Promise<void> {
    const asked = edited
    const mention = mentionAt(asked.text, asked.cursor)
    if (!mention) return
    const paths = await completePath(mention.path, cwd)
    // The text may have changed while the folder was read.
    if (edited !== asked) return
    suggestions = paths.map((path) => ({ text: mentionText(path), start: mention.start, note: "" }))
    screen.redraw()
  }

  function complete(): void {
    const [first] = suggestions
    if (!first) return
    const common = suggestions.length === 1 ? first.text : commonStart(suggestions.map(({ text }) => text))
    const isWhole = suggestions.length === 1 && !common.endsWith("/")
    change(replaceBeforeCursor(edited, first.start, isWhole ? `${common} ` : common))
  }

  function enter(): string | undefined {
    const { text, cursor } = edited
    // A backslash at the end of the text asks for another line.
    if (text.endsWith("\\") && cursor === text.length) {
      change(editedText(`${text.slice(0, -1)}\n`))
      return undefined
    }
    if (text.trim() === "") return undefined
    change(emptyText)
    history.leave()
    return text.trim()
  }

  function browse(text: string | undefined): void {
    if (text !== undefined) change(editedText(text))
  }

  return {
    get isEmpty() {
      return edited.text === ""
    },
    press(key) {
      if (key.type !== "key") change(insertText(edited, key.text))
      else if (key.name === "enter") return enter()
      else if (key.name === "tab") complete()
      else if (key.name === "escape") suggestions = []
      else {
        const next = pressEditKey(edited, key.name)
        if (next) change(next)
        else if (key.name === "up") browse(history.older(edited.text))
        else if (key.name === "down") browse(history.newer())
      }
      return undefined
    },
    set: (text) => change(editedText(text)),
    clear() {
      const wasEmpty = edited.text === ""
      change(emptyText)
      history.leave()
      return !wasEmpty
    },
    layout(hint) {
      const { paint, columns, rows } = screen
      const maxRows = Math.max(3, rows - maxSuggestions - 4)
      const layout = layoutEditor(edited, { mark: "❯ ", columns, maxRows })
      const below = hint === undefined ? suggestions.slice(0, maxSuggestions).map(suggestionText) : [hint]
      const hints = below.map((text) => paint.dim(truncateToWidth(`  ${text}`, columns)))
      return { ...layout, lines: [...layout.lines, ...hints] }
    },
  }
}

function suggestionText({ text, note }: Suggestion): string {
  return note === "" ? text : `${text.padEnd(10)} ${note}`
}

function slashSuggestions(text: string, cursor: number): Suggestion[] {
  if (cursor !== text.length) return []
  const notes = new Map(Object.entries(slashCommands).map(([name, { does }]) => [`/${name}`, does]))
  return completeSlash(text).map((name) => ({ text: name, start: 0, note: notes.get(name) ?? "" }))
}
