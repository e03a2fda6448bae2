// Collects what an answer says around its blocks, and decides whether the answer is sent back.
import { codeLanguage, isToolCallJson } from "./code-text.ts"
import { parseInlineBlock } from "./fence.ts"
import { awaitsResult, type Introduction, maxIntroductionChars, readIntroduction } from "./introduction.ts"
import { actionTag, codeTagText } from "./markup.ts"
import type { SendBackReason } from "./send-back.ts"
import { type CodeSyntax, kindOfTag, type TagKind } from "./tags.ts"

/** What is known about a block when it opens. */
export interface BlockFacts {
  kind: TagKind
  introduction: Introduction
  /** Whether the answer has no prose before the block. */
  alone: boolean
}

/** What becomes of a block whose tag says nothing. `wait`: it runs if no prose follows. */
export type Decision = "run" | "text" | "wait"

/** A certain reason counts at once. A doubt counts only if no prose follows, or prose that awaits a result. */
export class AnswerJudge {
  readonly #syntax: CodeSyntax
  #reason: SendBackReason | undefined
  #doubt: SendBackReason | undefined
  // The first and the last part of the prose, and the prose since the doubt.
  #start = ""
  #recent = ""
  #after = ""
  #codeElement: string | undefined

  constructor(syntax: CodeSyntax) {
    this.#syntax = syntax
  }

  /** Reads prose outside of blocks and thoughts. */
  readProse(text: string): void {
    if (this.#start.length < maxIntroductionChars) this.#start = (this.#start + text).slice(0, maxIntroductionChars)
    if (this.#doubt && this.#after.length < maxAfterChars) this.#after = (this.#after + text).slice(0, maxAfterChars)
    this.#recent += text
    if (this.#recent.length > 4 * maxIntroductionChars) this.#recent = this.#recent.slice(-2 * maxIntroductionChars)
  }

  get hasProse(): boolean {
    return this.#start.replace(/(?:[-*+>]|\d{1,9}[.)])\s*$/, "").trim() !== ""
  }

  /** Reads the tag of a block that opens after the prose so far. */
  openBlock(tag: string): BlockFacts {
    const kind = kindOfTag(tag, this.#syntax)
    const facts = { kind, introduction: readIntroduction(this.#recent), alone: !this.hasProse }
    this.#recent = ""
    return facts
  }

  sendBack(reason: SendBackReason): void {
    this.#reason ??= reason
  }

  /** Judges a block that stays text. Returns true if nothing after it can change the decision. */
  closeText({ kind, introduction, alone }: BlockFacts, tag: string, body: string, quoted: boolean): boolean {
    const isExample = introduction === "example"
    const isAction = introduction === "action" || alone
    if (kind === "other") this.sendBack({ kind: "other-language" })
    else if (kind === "call" || (kind === "data" && isAction && isToolCallJson(body))) this.sendBack({ kind: "call" })
    else if (kind === "run" && quoted && !isExample) this.sendBack({ kind: "quoted" })
    else if ((kind === "alias" || kind === "program") && introduction === "action")
      this.sendBack({ kind: "program", tag })
    else if (kind === "program" && alone) this.#doubtBecause({ kind: "program", tag })
    return kind === "other"
  }

  /** Decides about a block whose tag says nothing. */
  closeUnknown({ introduction, alone }: BlockFacts, body: string): Decision {
    const language = codeLanguage(body, this.#syntax.language)
    if (!language || introduction === "example") return "text"
    const isOwn = language === this.#syntax.language
    const reason: SendBackReason = { kind: isOwn ? "untagged" : "other-language" }
    if (introduction !== "action" && !alone) {
      this.#doubtBecause(reason)
      return "text"
    }
    if (isOwn && !this.#syntax.onlyFence) return introduction === "action" ? "run" : "wait"
    this.sendBack(reason)
    return "text"
  }

  /** The answer ended inside a block whose tag says nothing. */
  endInUnknown({ introduction, alone }: BlockFacts, body: string): void {
    const isAction = introduction === "action" || alone
    if (isAction && codeLanguage(body, this.#syntax.language)) this.sendBack({ kind: "never-closed" })
  }

  /** Judges a whole line of prose: code between XML-like tags, and a block in one line. Returns true for a block. */
  readLine(line: string): boolean {
    const inline = parseInlineBlock(line)
    if (inline) this.#judgeInline(inline.tag, inline.code)
    const name = actionTag(line)
    if (name !== undefined) this.sendBack({ kind: "markup", name })
    if (this.#codeElement !== undefined) this.#codeElement += `${line}\n`
    else this.#codeElement = codeTagText(line)?.concat("\n")
    if (this.#codeElement !== undefined && line.includes("</code>")) this.#judgeCodeElement()
    return inline !== undefined
  }

  /** Returns why the answer is sent back; undefined if it is final. */
  finish(): SendBackReason | undefined {
    if (this.#codeElement !== undefined) this.#judgeCodeElement()
    if (this.#reason) return this.#reason
    if (this.#isFinishCall()) return { kind: "call" }
    return this.#after.trim() === "" || awaitsResult(this.#after) ? this.#doubt : undefined
  }

  /** Returns true if the prose is only a call of `finish`. */
  #isFinishCall(): boolean {
    return /^\s*finish\(/.test(this.#start) && this.#recent.trimEnd().replace(/;$/, "").endsWith(")")
  }

  #doubtBecause(reason: SendBackReason): void {
    this.#doubt = reason
    this.#after = ""
  }

  #judgeInline(tag: string, code: string): void {
    const { kind, introduction, alone } = this.openBlock(tag)
    if (kind === "other") this.sendBack({ kind: "other-language" })
    else if (kind === "run" && introduction !== "example") this.sendBack({ kind: "empty" })
    else if (kind === "unknown" && alone) {
      const isCode = codeLanguage(`${tag} ${code}`, this.#syntax.language) !== undefined
      if (isCode) this.#doubtBecause({ kind: "untagged" })
    }
  }

  #judgeCodeElement(): void {
    const [code = "", after = ""] = (this.#codeElement ?? "").split("</code>")
    this.#codeElement = undefined
    if (after.trim() === "" && codeLanguage(code, this.#syntax.language))
      this.sendBack({ kind: "markup", name: "code" })
  }
}

const maxAfterChars = 2000
