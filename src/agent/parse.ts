// Splits a streamed answer into prose and the code to run, and finds answers that must be sent back.
import { AnswerReader } from "./parse/answer-reader.ts"
import { joinContinuation } from "./parse/continuation.ts"
import { endOfUnopenedThought } from "./parse/markup.ts"
import type { ParsedAnswer, ParsedPiece } from "./parse/parsed-answer.ts"
import { type CodeSyntax, kindOfTag } from "./parse/tags.ts"

export type { ParsedAnswer, ParsedPiece } from "./parse/parsed-answer.ts"

/** Splits an answer while it streams. The result depends only on the text, never on how it was cut into chunks. */
export interface AnswerParser {
  push(chunk: string): ParsedPiece[]
  /** The stream was cut: a closing fence counts even if its line did not end. */
  settle(): ParsedPiece[]
  /** The next text continues the answer. If the model repeats the fence, or a line of prose before it, that is
   *  dropped. */
  resume(): void
  end(): ParsedPiece[]
  /** The code to run is complete, or the answer is sent back. Text after it is dropped: the model wrote it without
   *  having seen the block's result. But a `</think>` in it whose thought was never opened means that the block belongs
   *  to a thought; the answer follows, and this is false again. */
  readonly done: boolean
  /** The answer; complete after `end`. */
  answer(): ParsedAnswer
}

/** Finds the first block to run:
 *
 *  - A block with a tag of the session's language runs, unless the sentence before it introduces an example.
 *  - A block without such a tag runs if it contains code and is the whole answer, or if the sentence before it announces
 *    an action.
 *  - A block inside `<think>` never runs.
 *
 *  An answer whose code does not run and is no example is sent back. Without a syntax all text is prose.
 *
 *  `startsInThought`: the answer is expected to start with a thought that has only an end tag. If the tag is missing at
 *  the end of the answer, the answer is read again as one without a thought. */
export function createAnswerParser(
  syntax: CodeSyntax | undefined,
  options: { startsInThought?: boolean } = {},
): AnswerParser {
  return new Parser(syntax, options.startsInThought === true)
}

// A class, because one is created for every answer: creating closures would cost more than the parsing.
class Parser implements AnswerParser {
  readonly #syntax: CodeSyntax | undefined
  readonly #reader: AnswerReader
  // The line being received: the parts that the reader has got, and the rest.
  #sent: string[] = []
  #held = ""
  #heldIsBlank = true
  #isHeldUntilLineEnd = false
  #resumed: string | undefined
  // The text after the code to run.
  #rest = ""
  // The text so far, and the unfinished line after the code.
  #read = ""
  #tail = ""
  #expectsThought: boolean

  constructor(syntax: CodeSyntax | undefined, startsInThought: boolean) {
    this.#syntax = syntax
    this.#reader = new AnswerReader(syntax)
    this.#expectsThought = startsInThought && syntax !== undefined
    if (this.#expectsThought) this.#reader.startInThought()
  }

  get done(): boolean {
    return this.#reader.done
  }

  push(chunk: string): ParsedPiece[] {
    if (this.done) {
      this.#rest += chunk
      this.#readTail(chunk)
    } else if (this.#resumed === undefined) this.#receive(chunk)
    else {
      this.#resumed += chunk
      this.#join("more")
    }
    return this.#reader.pieces.take()
  }

  settle(): ParsedPiece[] {
    this.#join("cut")
    if (this.#sent.length === 0) this.#reader.closeWith(this.#held)
    return this.#reader.pieces.take()
  }

  resume(): void {
    this.#resumed ??= ""
  }

  end(): ParsedPiece[] {
    const tail = this.#tail
    this.#tail = ""
    this.#searchTail(tail)
    if (this.done) return this.#reader.pieces.take()
    this.#join("end")
    this.#resumed = undefined
    this.#endText()
    if (!this.#expectsThought || !this.#reader.isInThought) return this.#reader.pieces.take()
    // The expected end of the thought did not come. The text was emitted; only the code is emitted now.
    const emitted = this.#reader.pieces.take()
    const text = this.#read
    this.#read = ""
    this.#reader.restart("")
    this.#receive(text)
    this.#endText()
    return [...emitted, ...this.#reader.pieces.take().filter(({ type }) => type !== "text")]
  }

  #endText(): void {
    if (!this.done && (this.#held !== "" || this.#sent.length > 0)) this.#endLine("")
    this.#reader.end()
  }

  answer(): ParsedAnswer {
    const answer = this.#reader.answer()
    if (answer.code && /```|~~~/.test(this.#rest) && this.#hasCode(this.#rest)) answer.hasMoreCode = true
    return answer
  }

  // Asks the reader, because `answer()` of the other parser would search the text after its first block again.
  #hasCode(text: string): boolean {
    const parser = new Parser(this.#syntax, false)
    parser.push(text)
    parser.end()
    return parser.#reader.answer().code !== undefined
  }

  #receive(chunk: string): void {
    this.#read += chunk
    let start = 0
    while (!this.done && start < chunk.length) {
      const newline = chunk.indexOf("\n", start)
      const piece = newline === -1 ? chunk.slice(start) : chunk.slice(start, newline)
      this.#heldIsBlank = (this.#held === "" || this.#heldIsBlank) && piece.trim() === ""
      this.#held += piece
      if (newline === -1) break
      if (this.#held.endsWith("\r")) this.#held = this.#held.slice(0, -1)
      this.#endLine("\n")
      start = newline + 1
    }
    if (!this.done) return this.#streamHeld()
    const tail = chunk.slice(start)
    this.#rest += tail
    this.#read = this.#read.slice(0, this.#read.length - tail.length)
    this.#readTail(tail)
  }

  #readTail(text: string): void {
    const end = text.lastIndexOf("\n") + 1
    if (end === 0) this.#tail += text
    else {
      const lines = this.#tail + text.slice(0, end)
      this.#tail = text.slice(end)
      this.#searchTail(lines)
    }
  }

  // Searches lines after the code for the end of a thought that was never opened. The code then belonged to the
  // thought.
  #searchTail(lines: string): void {
    if (!this.done || !this.#syntax || this.#reader.hasThought) return
    let position = 0
    for (const line of lines.split(/(?<=\n)/)) {
      const end = endOfUnopenedThought(line)
      if (end !== undefined) {
        this.#read += lines.slice(0, position + end)
        const rest = lines.slice(position + end) + this.#tail
        this.#tail = ""
        this.#rest = ""
        this.#reader.restart(this.#read.replaceAll("\r\n", "\n"))
        return this.#receive(rest)
      }
      position += line.length
    }
    this.#read += lines
  }

  #endLine(ending: string): void {
    const sent = this.#sent.length === 0 ? "" : this.#sent.join("")
    const held = this.#held
    this.#sent = []
    this.#held = ""
    this.#isHeldUntilLineEnd = false
    this.#reader.readLine(sent, held, ending)
  }

  // Passes on the start of a line as soon as it is decided. A "\r" may still belong to a line ending.
  #streamHeld(): void {
    const isLineStart = this.#sent.length === 0
    if (this.#held === "" || this.#isHeldUntilLineEnd || (isLineStart && this.#heldIsBlank)) return
    const held = this.#held.endsWith("\r") ? this.#held.slice(0, -1) : this.#held
    const { index, untilLineEnd } = this.#reader.undecidedIndex(held, isLineStart)
    this.#isHeldUntilLineEnd = untilLineEnd
    const ready = held.slice(0, index)
    if (ready === "" || (isLineStart && ready.trim() === "")) return
    this.#held = this.#held.slice(index)
    this.#heldIsBlank = this.#held.trim() === ""
    this.#sent.push(ready)
    this.#reader.readPart(ready, isLineStart)
  }

  /** Continues with the text since the cut, as soon as it is known how to join it. */
  #join(then: "more" | "cut" | "end"): void {
    if (!this.#resumed) return
    const { block, isInThought } = this.#reader
    const code = block?.use === "run" ? block : undefined
    const line = (code ? code.line : this.#sent.join("")) + this.#held
    const inString = code?.lexer.isOpenAfter(line) ?? false
    // Text in a thought or in a block that does not run stays what it is.
    const isPlain = isInThought || (block !== undefined && !code)
    const joined = isPlain
      ? { text: this.#resumed }
      : joinContinuation(this.#resumed, { block: code, line, inString, isCodeTag: (tag) => this.#isCodeTag(tag) }, then)
    if (!joined) return
    this.#resumed = undefined
    if (joined.replacesLine) this.#held = ""
    this.#receive(joined.text)
  }

  #isCodeTag(tag: string): boolean {
    return this.#syntax !== undefined && kindOfTag(tag, this.#syntax) === "run"
  }
}
