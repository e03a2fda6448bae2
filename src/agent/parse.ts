import { continuation } from "./continuation.ts"
import { closesFence, type Fence, mayBeFence, openingFence } from "./fence.ts"
import { type LineLexer, lineLexer } from "./line-lexer.ts"

/** What the model wrote, piece by piece. */
export type ParsedPiece =
  | { type: "text"; text: string }
  | { type: "code-start"; tag: string }
  | { type: "code"; text: string }
  | { type: "code-end" }

/** The whole answer: the prose before the first code block, and that block. */
export interface Answer {
  text: string
  code?: { tag: string; code: string; closed: boolean } | undefined
}

/** Splits an answer into prose and its first code block while it streams. The result depends on the text alone, never on
 *  how it was cut into chunks. */
export interface AnswerParser {
  push(chunk: string): ParsedPiece[]
  /** The stream was cut: a closing fence counts although its line did not end. */
  settle(): ParsedPiece[]
  /** The model goes on: what comes next continues the text so far. A fence it opens again, and a line of prose before
   *  it, is dropped. */
  resume(): void
  /** No more will come. */
  end(): ParsedPiece[]
  /** The first block is closed; whatever follows was written without having seen its result, and is dropped. */
  readonly done: boolean
  /** Inside a code block that is not closed yet. */
  readonly inCode: boolean
  answer(): Answer
}

/** Fences are line-anchored as in CommonMark: up to three spaces, three or more backticks or tildes, a tag. Prose that
 *  mentions a fence, and blocks in other languages, stay prose. An empty block is prose too. */
export function answerParser(tags: readonly string[], language: "typescript" | "python"): AnswerParser {
  const accepted = new Set(tags.map((tag) => tag.toLowerCase()))
  let pieces: ParsedPiece[] = []
  let text = ""
  let code = ""
  let done = false
  let closed = false
  // The line being received: what of it is not decided yet, and whether its start was let through already.
  let held = ""
  let streaming = false
  let block: Block | undefined
  let resumed: string | undefined

  function line(content: string, ending: string): void {
    if (!block) return proseLine(content, ending)
    if (closesFence(content, block)) return closeBlock(content, ending, block)
    if (!block.runs) return emitText(content + ending)
    codeLine(dedent(content, block.indent) + (ending ? "\n" : ""), block)
  }

  function proseLine(content: string, ending: string): void {
    const opening = openingFence(content)
    if (!opening) return emitText(content + ending)
    const runs = accepted.has(opening.tag.toLowerCase())
    block = {
      ...opening,
      runs,
      opener: content + ending,
      blank: "",
      started: false,
      line: "",
      lexer: lineLexer(language),
    }
    if (!runs) emitText(content + ending)
  }

  function codeLine(content: string, current: Block): void {
    if (!current.started && content.trim() === "") {
      current.blank += content
      return
    }
    startCode(current)
    emitCode(content, current)
  }

  function startCode(current: Block): void {
    if (current.started) return
    current.started = true
    pieces.push({ type: "code-start", tag: current.tag })
    if (current.blank) emitCode(current.blank, current)
  }

  function closeBlock(content: string, ending: string, current: Block): void {
    if (!current.runs) {
      emitText(content + ending)
      block = undefined
      return
    }
    if (!current.started) {
      emitText(current.opener + current.blank + content + ending)
      block = undefined
      return
    }
    if (current.lexer.open) {
      // A fence inside a template string or comment is part of the code, unless the string turns out never to end.
      current.candidate ??= code.length
      codeLine(`${dedent(content, current.indent)}${ending ? "\n" : ""}`, current)
      return
    }
    finishCode()
  }

  function finishCode(): void {
    done = true
    closed = true
    held = ""
    pieces.push({ type: "code-end" })
  }

  function emitText(value: string): void {
    if (!value) return
    text += value
    addPiece("text", value)
  }

  function emitCode(value: string, current: Block): void {
    if (!value) return
    code += value
    addPiece("code", value)
    current.line += value
    if (!value.endsWith("\n")) return
    current.lexer.line(current.line)
    current.line = ""
  }

  // What comes with one chunk is told in one piece.
  function addPiece(type: "text" | "code", value: string): void {
    const last = pieces.at(-1)
    if (last?.type === type) last.text += value
    else pieces.push({ type, text: value })
  }

  function receive(chunk: string): void {
    let start = 0
    while (!done && start < chunk.length) {
      const newline = chunk.indexOf("\n", start)
      held += newline === -1 ? chunk.slice(start) : chunk.slice(start, newline)
      if (newline === -1) break
      const content = held.endsWith("\r") ? held.slice(0, -1) : held
      held = ""
      if (streaming) streamRest(content, "\n")
      else line(content, "\n")
      streaming = false
      start = newline + 1
    }
    if (!done) streamHeld()
  }

  // The rest of a line whose start was let through.
  function streamRest(content: string, ending: string): void {
    if (block?.runs) emitCode(content + ending, block)
    else emitText(content + ending)
  }

  // Lets the start of a line through as soon as it cannot become a fence; a "\r" may still belong to a line ending.
  function streamHeld(): void {
    if (!streaming && (mayBeFence(held) || held.trim() === "")) return
    const ready = held.endsWith("\r") ? held.slice(0, -1) : held
    if (!ready) return
    held = held.slice(ready.length)
    if (streaming) return streamRest(ready, "")
    streaming = true
    if (block?.runs) codeLine(dedent(ready, block.indent), block)
    else emitText(ready)
  }

  /** Goes on with what came since the answer was cut, as soon as it is known how. */
  function join(then: "more" | "cut" | "end"): void {
    if (!resumed) return
    const code = block?.runs ? block : undefined
    const line = (code ? code.line : streaming ? "…" : "") + held
    const inString = code?.lexer.openAfter(line) ?? false
    // What stands in a block of another language stays prose.
    const isPlain = block !== undefined && !code
    const joined = isPlain
      ? { text: resumed }
      : continuation(resumed, { block: code, line, inString, runs: (tag) => accepted.has(tag.toLowerCase()) }, then)
    if (!joined) return
    resumed = undefined
    if (joined.anew) held = ""
    receive(joined.text)
  }

  function take(): ParsedPiece[] {
    const taken = pieces
    pieces = []
    return taken
  }

  return {
    push(chunk) {
      if (done) return []
      if (resumed === undefined) receive(chunk)
      else {
        resumed += chunk
        join("more")
      }
      return take()
    },
    settle() {
      join("cut")
      if (block?.runs && block.started && !streaming && !block.lexer.open && closesFence(held, block)) finishCode()
      return take()
    },
    resume() {
      resumed ??= ""
    },
    end() {
      if (done) return []
      join("end")
      resumed = undefined
      if (held && !done) {
        const last = held
        held = ""
        if (streaming) streamRest(last, "")
        else line(last, "")
      }
      if (done || !block?.runs) return take()
      if (!block.started) emitText(block.opener + block.blank)
      else if (block.candidate !== undefined) {
        code = code.slice(0, block.candidate)
        finishCode()
      }
      return take()
    },
    get done() {
      return done
    },
    get inCode() {
      return block?.runs === true && block.started && !done
    },
    answer() {
      const answer: Answer = { text }
      if (block?.runs && block.started) answer.code = { tag: block.tag, code, closed }
      return answer
    },
  }
}

interface Block extends Fence {
  /** Whether the tag is ours: code to run, not prose. */
  runs: boolean
  opener: string
  /** Blank lines before the first real one, held back until we know that the block is not empty. */
  blank: string
  started: boolean
  /** Where the code ends if the string that hides the first closing fence never ends. */
  candidate?: number
  /** The line received so far: the lexer takes whole lines, so that chunks cannot matter. */
  line: string
  lexer: LineLexer
}

function dedent(line: string, indent: number): string {
  let spaces = 0
  while (spaces < indent && line[spaces] === " ") spaces++
  return line.slice(spaces)
}
