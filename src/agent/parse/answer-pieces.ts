// Collects what an answer consists of: its text, the code to run, and both as pieces in the order of the answer.
import type { OpenBlock } from "./open-block.ts"
import type { ParsedPiece } from "./parsed-answer.ts"

export class AnswerPieces {
  text = ""
  code = ""
  #pieces: ParsedPiece[] = []

  take(): ParsedPiece[] {
    const taken = this.#pieces
    this.#pieces = []
    return taken
  }

  startCode(tag: string): void {
    this.#pieces.push({ type: "code-start", tag })
  }

  endCode(): void {
    this.#pieces.push({ type: "code-end" })
  }

  addText(value: string): void {
    this.text += value
    this.#add("text", value)
  }

  addCode(value: string, block: OpenBlock): void {
    if (!value) return
    this.code += value
    this.#add("code", value)
    block.line += value
    if (!value.endsWith("\n")) return
    block.lexer.readLine(block.line)
    block.line = ""
  }

  /** Makes `whole` the text. Its part beyond the present text is emitted. */
  completeText(whole: string): void {
    this.#add("text", whole.slice(this.text.length))
    this.text = whole
  }

  // All text of one kind from one chunk becomes one piece.
  #add(type: "text" | "code", value: string): void {
    if (value === "") return
    const last = this.#pieces.at(-1)
    if (last?.type === type) last.text += value
    else this.#pieces.push({ type, text: value })
  }
}
