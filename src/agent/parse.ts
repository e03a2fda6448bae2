// Splits a streamed answer into prose and its first code block.
import { joinContinuation } from "./parse/continuation.ts"
import { closesFence, type Fence, mayBeFence, parseOpeningFence } from "./parse/fence.ts"
import { createLineLexer, type LineLexer } from "./parse/line-lexer.ts"

export type ParsedPiece =
  | { type: "text"; text: string }
  | { type: "code-start"; tag: string }
  | { type: "code"; text: string }
  | { type: "code-end" }

export interface ParsedAnswer {
  text: string
  code?: { tag: string; code: string; closed: boolean } | undefined
}

/** Splits an answer while it streams. The result depends only on the text, never on how it was cut into chunks. */
export interface AnswerParser {
  push(chunk: string): ParsedPiece[]
  /** The stream was cut: a closing fence counts even if its line did not end. */
  settle(): ParsedPiece[]
  /** The next text continues the answer. If the model repeats the fence, or a line of prose before it, that is
   *  dropped. */
  resume(): void
  end(): ParsedPiece[]
  /** The first block is closed. Text after it is dropped: the model wrote it without having seen the block's result. */
  readonly done: boolean
  answer(): ParsedAnswer
}

/** Fences are line-anchored as in CommonMark: up to three spaces, three or more backticks or tildes, a tag. Prose that
 *  mentions a fence, blocks in other languages and empty blocks are prose. */
export function createAnswerParser(tags: readonly string[], language: "typescript" | "python"): AnswerParser {
  return new Parser(tags, language)
}

// A class, because one is created for every answer: creating closures would cost more than the parsing.
class Parser implements AnswerParser {
  done = false
  readonly #tags: readonly string[]
  readonly #language: "typescript" | "python"
  #pieces: ParsedPiece[] = []
  #text = ""
  #code = ""
  #closed = false
  // The line being received: its undecided part, and whether its start was already emitted.
  #held = ""
  #heldIsBlank = true
  #streaming = false
  #block: OpenBlock | undefined
  #resumed: string | undefined

  constructor(tags: readonly string[], language: "typescript" | "python") {
    this.#tags = tags
    this.#language = language
  }

  push(chunk: string): ParsedPiece[] {
    if (this.done) return []
    if (this.#resumed === undefined) this.#receive(chunk)
    else {
      this.#resumed += chunk
      this.#join("more")
    }
    return this.#take()
  }

  settle(): ParsedPiece[] {
    this.#join("cut")
    const block = this.#block
    const isWhole = block?.isCode && block.started && !this.#streaming && !block.lexer.isOpen()
    if (isWhole && closesFence(this.#held, block)) this.#finishCode()
    return this.#take()
  }

  resume(): void {
    this.#resumed ??= ""
  }

  end(): ParsedPiece[] {
    if (this.done) return []
    this.#join("end")
    this.#resumed = undefined
    if (this.#held && !this.done) {
      const last = this.#held
      this.#held = ""
      if (this.#streaming) this.#streamRest(last, "")
      else this.#line(last, "")
    }
    const block = this.#block
    if (this.done || !block?.isCode) return this.#take()
    if (!block.started) this.#emitText(block.opener + block.blank)
    else if (block.provisionalEnd !== undefined) {
      this.#code = this.#code.slice(0, block.provisionalEnd)
      this.#finishCode()
    }
    return this.#take()
  }

  answer(): ParsedAnswer {
    const block = this.#block
    const answer: ParsedAnswer = { text: this.#text }
    if (block?.isCode && block.started) answer.code = { tag: block.tag, code: this.#code, closed: this.#closed }
    return answer
  }

  #line(content: string, ending: string): void {
    const block = this.#block
    if (!block) return this.#proseLine(content, ending)
    if (closesFence(content, block)) return this.#closeBlock(content, ending, block)
    if (!block.isCode) return this.#emitText(content + ending)
    this.#codeLine(dedent(content, block.indent) + (ending ? "\n" : ""), block)
  }

  #proseLine(content: string, ending: string): void {
    const opening = parseOpeningFence(content)
    if (!opening) return this.#emitText(content + ending)
    const runs = this.#isCodeTag(opening.tag)
    const lexer = createLineLexer(this.#language)
    this.#block = { ...opening, isCode: runs, opener: content + ending, blank: "", started: false, line: "", lexer }
    if (!runs) this.#emitText(content + ending)
  }

  #codeLine(content: string, current: OpenBlock): void {
    if (!current.started && content.trim() === "") {
      current.blank += content
      return
    }
    this.#startCode(current)
    this.#emitCode(content, current)
  }

  #startCode(current: OpenBlock): void {
    if (current.started) return
    current.started = true
    this.#pieces.push({ type: "code-start", tag: current.tag })
    if (current.blank) this.#emitCode(current.blank, current)
  }

  #closeBlock(content: string, ending: string, current: OpenBlock): void {
    if (!current.isCode) {
      this.#emitText(content + ending)
      this.#block = undefined
      return
    }
    if (!current.started) {
      this.#emitText(current.opener + current.blank + content + ending)
      this.#block = undefined
      return
    }
    if (current.lexer.isOpen()) {
      // A fence inside a template string or comment is part of the code, unless the string never ends.
      current.provisionalEnd ??= this.#code.length
      this.#codeLine(`${dedent(content, current.indent)}${ending ? "\n" : ""}`, current)
      return
    }
    this.#finishCode()
  }

  #finishCode(): void {
    this.done = true
    this.#closed = true
    this.#held = ""
    this.#pieces.push({ type: "code-end" })
  }

  #emitText(value: string): void {
    if (!value) return
    this.#text += value
    this.#addPiece("text", value)
  }

  #emitCode(value: string, current: OpenBlock): void {
    if (!value) return
    this.#code += value
    this.#addPiece("code", value)
    current.line += value
    if (!value.endsWith("\n")) return
    current.lexer.readLine(current.line)
    current.line = ""
  }

  // All text of one kind from one chunk becomes one piece.
  #addPiece(type: "text" | "code", value: string): void {
    const last = this.#pieces.at(-1)
    if (last?.type === type) last.text += value
    else this.#pieces.push({ type, text: value })
  }

  #receive(chunk: string): void {
    let start = 0
    while (!this.done && start < chunk.length) {
      const newline = chunk.indexOf("\n", start)
      const piece = newline === -1 ? chunk.slice(start) : chunk.slice(start, newline)
      this.#heldIsBlank = (this.#held === "" || this.#heldIsBlank) && piece.trim() === ""
      this.#held += piece
      if (newline === -1) break
      const content = this.#held.endsWith("\r") ? this.#held.slice(0, -1) : this.#held
      this.#held = ""
      if (this.#streaming) this.#streamRest(content, "\n")
      else this.#line(content, "\n")
      this.#streaming = false
      start = newline + 1
    }
    if (!this.done) this.#streamHeld()
  }

  // The rest of a line whose start was already emitted.
  #streamRest(content: string, ending: string): void {
    if (this.#block?.isCode) this.#emitCode(content + ending, this.#block)
    else this.#emitText(content + ending)
  }

  // Emits the start of a line as soon as it cannot become a fence. A "\r" may still belong to a line ending.
  #streamHeld(): void {
    const held = this.#held
    if (held === "" || (!this.#streaming && (this.#heldIsBlank || mayBeFence(held)))) return
    const ready = held.endsWith("\r") ? held.slice(0, -1) : held
    if (!ready) return
    this.#held = held.slice(ready.length)
    this.#heldIsBlank = true
    if (this.#streaming) return this.#streamRest(ready, "")
    this.#streaming = true
    if (this.#block?.isCode) this.#codeLine(dedent(ready, this.#block.indent), this.#block)
    else this.#emitText(ready)
  }

  /** Continues with the text since the cut, as soon as it is known how to join it. */
  #join(then: "more" | "cut" | "end"): void {
    if (!this.#resumed) return
    const block = this.#block
    const code = block?.isCode ? block : undefined
    const line = (code ? code.line : this.#streaming ? "…" : "") + this.#held
    const inString = code?.lexer.isOpenAfter(line) ?? false
    // Text in a block of another language stays prose.
    const isPlain = block !== undefined && !code
    const joined = isPlain
      ? { text: this.#resumed }
      : joinContinuation(this.#resumed, { block: code, line, inString, isCodeTag: (tag) => this.#isCodeTag(tag) }, then)
    if (!joined) return
    this.#resumed = undefined
    if (joined.replacesLine) this.#held = ""
    this.#receive(joined.text)
  }

  #isCodeTag(tag: string): boolean {
    const lowerCaseTag = tag.toLowerCase()
    return this.#tags.some((known) => known.toLowerCase() === lowerCaseTag)
  }

  #take(): ParsedPiece[] {
    const taken = this.#pieces
    this.#pieces = []
    return taken
  }
}

interface OpenBlock extends Fence {
  /** Whether the tag marks code to run, not prose. */
  isCode: boolean
  opener: string
  /** Blank lines before the first other line, held back until the block is known not to be empty. */
  blank: string
  started: boolean
  /** Where the code ends if the string around the first closing fence never ends. */
  provisionalEnd?: number
  /** The current line so far: the lexer takes whole lines, so that chunks cannot matter. */
  line: string
  lexer: LineLexer
}

function dedent(line: string, indent: number): string {
  let spaces = 0
  while (spaces < indent && line[spaces] === " ") spaces++
  return line.slice(spaces)
}
