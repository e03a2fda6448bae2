// Reads the lines of an answer: prose, thoughts and blocks. Emits prose and the code to run.

import { AnswerPieces } from "./answer-pieces.ts"
import { closesFence, endsCode, mayBeFence, parseMidLineFence, parseOpeningFence } from "./fence.ts"
import { AnswerJudge } from "./judge-answer.ts"
import { endOfThought, endOfUnopenedThought, findThought, undecidedInProse, undecidedInThought } from "./markup.ts"
import { dedent, type OpenBlock, openBlock } from "./open-block.ts"
import type { ParsedAnswer } from "./parsed-answer.ts"
import { sendBackMessage } from "./send-back.ts"
import { type CodeSyntax, kindOfTag } from "./tags.ts"

export class AnswerReader {
  done = false
  hasThought = false
  /** The block that is open. After the end: the block with the code to run. */
  block: OpenBlock | undefined
  readonly #syntax: CodeSyntax | undefined
  readonly pieces = new AnswerPieces()
  #judge: AnswerJudge | undefined
  #closed = false
  #ended = false
  // A block that runs if no prose follows, and the blank text after it.
  #waiting: { block: OpenBlock; blank: string } | undefined
  #thought: { startsLine: boolean; hasFence: boolean } | undefined
  #hasTextBlock = false

  constructor(syntax: CodeSyntax | undefined) {
    this.#syntax = syntax
    this.#judge = syntax && new AnswerJudge(syntax)
  }

  get isInThought(): boolean {
    return this.#thought !== undefined
  }

  /** The answer starts inside a thought. */
  startInThought(): void {
    this.#thought = { startsLine: true, hasFence: false }
    this.hasThought = true
  }

  /** Forgets the code and reads on: `text`, all that was read so far, was a thought. The part of it that was emitted as
   *  code is emitted again as text, so that the text pieces add up to the answer. With "" it reads from the start. */
  restart(text: string): void {
    this.pieces.completeText(text)
    this.#forgetBlocks()
    this.hasThought = text !== ""
  }

  /** Returns where the part of an unfinished line starts that may still become a fence or a tag. */
  undecidedIndex(held: string, isLineStart: boolean): { index: number; untilLineEnd: boolean } {
    const { block } = this
    if (block) {
      const untilLineEnd = isLineStart && (block.use === "unknown" || block.quoted)
      return { index: untilLineEnd || (isLineStart && mayBeFence(held)) ? 0 : held.length, untilLineEnd }
    }
    if (!this.#judge) return { index: held.length, untilLineEnd: false }
    return this.#thought ? undecidedInThought(held) : undecidedInProse(held)
  }

  /** Emits the start of a line that is not finished. */
  readPart(text: string, isLineStart: boolean): void {
    const { block } = this
    if (!block) return this.#thought ? this.pieces.addText(text) : this.#emitProse(text)
    this.#emitInBlock(block.use === "run" && isLineStart ? dedent(text, block.indent) : text, block)
  }

  /** Reads a line, of which `sent` was emitted already. */
  readLine(sent: string, rest: string, ending: string): void {
    if (!this.block) this.#proseLine(sent + rest, sent.length, ending)
    else if (sent !== "") this.#emitInBlock(rest + ending, this.block)
    else this.#blockLine(rest, ending, this.block)
  }

  /** Closes the code if an unfinished line is its closing fence. */
  closeWith(held: string): void {
    const { block } = this
    if (block?.use !== "run" || !block.started || block.lexer.isOpen()) return
    if (closesFence(held, block)) this.#finishCode()
  }

  end(): void {
    if (this.done || this.#ended) return
    if (this.#waiting) this.#runWhole(this.#waiting.block)
    else if (this.block) this.#endInBlock(this.block)
    this.#ended = true
  }

  answer(): ParsedAnswer {
    const { block } = this
    const answer: ParsedAnswer = { text: this.pieces.text }
    if (block?.use === "run" && block.started) {
      answer.code = { tag: block.tag, code: this.pieces.code, closed: this.#closed }
    } else if (this.#syntax && (this.#ended || this.done)) {
      this.#judgeThoughts()
      const reason = this.#judge?.finish()
      if (reason) answer.sendBack = sendBackMessage(reason, this.#syntax)
    }
    return answer
  }

  // Reads a line outside of blocks, of which the first part may have been emitted already.
  #proseLine(whole: string, emitted: number, ending: string): void {
    if (!this.#thought && !/[`~<]/.test(whole)) return this.#plainLine(whole, emitted, ending)
    let [line, sent] = [whole, emitted]
    const skip = (end: number) => {
      line = line.slice(end)
      sent = Math.max(0, sent - end)
    }
    while (this.#judge) {
      if (this.#thought) {
        const end = endOfThought(line)
        const thought = line.slice(0, end)
        if (thought.includes("```") || thought.includes("~~~")) this.#thought.hasFence = true
        this.pieces.addText(thought.slice(sent) + (end === undefined ? ending : ""))
        if (end === undefined) return
        this.#thought = undefined
        skip(end)
      }
      const end = endOfUnopenedThought(line)
      if (end !== undefined) {
        this.#emitWaiting()
        this.pieces.addText(line.slice(sent, end))
        this.#forgetBlocks()
        this.hasThought = true
        skip(end)
        continue
      }
      const start = findThought(line)
      if (!start) break
      this.#emitProse(line.slice(sent, start.index))
      this.#thought = { startsLine: start.startsLine, hasFence: false }
      this.hasThought = true
      skip(start.index)
    }
    if (!this.#judge || !this.#opensBlock(line, sent, ending)) this.#plainLine(line, sent, ending)
  }

  // What came before was a thought: its prose and its blocks say nothing about the answer.
  #forgetBlocks(): void {
    this.#judge = this.#syntax && new AnswerJudge(this.#syntax)
    this.block = undefined
    this.done = this.#closed = this.#ended = this.#hasTextBlock = false
    this.pieces.code = ""
    this.#waiting = this.#thought = undefined
  }

  #plainLine(line: string, sent: number, ending: string): void {
    // The prose before a block in one line introduces it.
    const fence = Math.max(sent, line.indexOf("```"))
    this.#emitProse(line.slice(sent, fence))
    if (!this.#judge?.readLine(line)) return this.#emitProse(line.slice(fence) + ending)
    this.#replaceWaiting()
    this.#hasTextBlock = true
    this.pieces.addText(line.slice(fence) + ending)
  }

  #opensBlock(line: string, sent: number, ending: string): boolean {
    const opening = parseOpeningFence(line) ?? parseMidLineFence(line)
    if (!opening || !this.#syntax || !this.#judge) return false
    if (opening.midLine && opening.tag !== "" && kindOfTag(opening.tag, this.#syntax) === "unknown") return false
    const before = line.slice(sent, opening.index)
    const isIndented = line.slice(0, opening.index).trim() === ""
    // Other text in front of the fence may have been emitted already, and has replaced the waiting block then.
    if (this.#waiting && isIndented) {
      this.#runWhole(this.#waiting.block)
      return true
    }
    if (!isIndented) this.#emitProse(before)
    const opener = (isIndented ? before : "") + line.slice(opening.index) + ending
    this.block = openBlock(opening, this.#judge.openBlock(opening.tag), opener, this.#syntax.language)
    if (this.block.use === "text") this.pieces.addText(opener)
    return true
  }

  #blockLine(content: string, ending: string, block: OpenBlock): void {
    if (block.quoted && !/^[ \t]*>/.test(content)) {
      this.#closeText("", block)
      if (!this.done) this.#proseLine(content, 0, ending)
      return
    }
    if (block.use === "run") return this.#runLine(content, ending, block)
    if (!closesFence(content, block)) return this.#emitInBlock(content + ending, block)
    if (block.use === "text") return this.#closeText(content + ending, block)
    this.#closeUnknown(content + ending, block)
  }

  #runLine(content: string, ending: string, block: OpenBlock): void {
    const isOpen = block.lexer.isOpen()
    const closes = closesFence(content, block)
    if (closes && !block.started) {
      this.pieces.addText(block.opener + block.body + content + ending)
      this.block = undefined
      return this.#judge?.sendBack({ kind: "empty" })
    }
    if (!isOpen && block.started && endsCode(content, block)) return this.#finishCode()
    // A fence inside a template string or comment is part of the code, unless the string never ends.
    if (closes) block.provisionalEnd ??= this.pieces.code.length
    this.#codeText(dedent(content, block.indent) + (ending ? "\n" : ""), block)
  }

  // Adds code. Blank lines before the first other line are held until the block is known not to be empty.
  #codeText(text: string, block: OpenBlock): void {
    if (!block.started && text.trim() === "") {
      block.body += text
      return
    }
    if (!block.started) {
      block.started = true
      this.pieces.startCode(block.tag)
      this.pieces.addCode(block.body, block)
    }
    this.pieces.addCode(text, block)
  }

  #closeText(closer: string, block: OpenBlock): void {
    this.pieces.addText(closer)
    this.block = undefined
    this.#hasTextBlock = true
    if (this.#judge?.closeText(block.facts, block.tag, block.body, block.quoted)) this.done = true
  }

  #closeUnknown(closer: string, block: OpenBlock): void {
    const decision = this.#judge?.closeUnknown(block.facts, block.body)
    this.block = undefined
    block.closer = closer
    if (decision === "run") return this.#runWhole(block)
    if (decision === "wait") this.#waiting = { block, blank: "" }
    else this.#emitWhole(block)
  }

  #runWhole(block: OpenBlock): void {
    this.#waiting = undefined
    this.block = { ...block, use: "run", body: "" }
    const lines = block.body.split(/(?<=\n)/).map((line) => dedent(line, block.indent))
    this.#codeText(lines.join(""), this.block)
    this.#finishCode()
  }

  #emitWhole(block: OpenBlock): void {
    this.#hasTextBlock = true
    this.pieces.addText(block.opener + block.body + block.closer)
  }

  #endInBlock(block: OpenBlock): void {
    if (block.use === "text") return this.#closeText("", block)
    if (block.use === "unknown") {
      this.block = undefined
      this.#judge?.endInUnknown(block.facts, block.body)
      return this.#emitWhole(block)
    }
    if (!block.started) {
      this.pieces.addText(block.opener + block.body)
      if (!block.midLine) this.#judge?.sendBack({ kind: "empty" })
    } else if (block.provisionalEnd !== undefined) {
      this.pieces.code = this.pieces.code.slice(0, block.provisionalEnd)
      this.#finishCode()
    }
  }

  #judgeThoughts(): void {
    const isOpen = this.#thought?.startsLine || this.#thought?.hasFence
    const isAll = this.hasThought && !this.#hasTextBlock && !this.#judge?.hasProse
    if (isOpen || isAll) this.#judge?.sendBack({ kind: "thought" })
  }

  #finishCode(): void {
    this.done = this.#closed = true
    this.pieces.endCode()
  }

  #emitInBlock(text: string, block: OpenBlock): void {
    if (block.use === "run") return this.#codeText(text, block)
    block.body += text
    if (block.use === "text") this.pieces.addText(text)
  }

  // A block that waits becomes text, because something follows it.
  #replaceWaiting(): void {
    if (this.#waiting) this.#judge?.sendBack({ kind: "untagged" })
    this.#emitWaiting()
  }

  #emitWaiting(): void {
    if (!this.#waiting) return
    const { block, blank } = this.#waiting
    this.#waiting = undefined
    this.#emitWhole(block)
    this.pieces.addText(blank)
  }

  #emitProse(text: string): void {
    if (this.#waiting && text.trim() === "") this.#waiting.blank += text
    else {
      this.#replaceWaiting()
      this.#judge?.readProse(text)
      this.pieces.addText(text)
    }
  }
}
