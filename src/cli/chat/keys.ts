// Turns terminal input into keys, typed text and pasted text.
import { timerMs } from "../../core/time-limit.ts"
import { safeText } from "../../display/safe-text.ts"

export type Key =
  | { type: "text"; text: string }
  /** Text between the marks of a bracketed paste. Its line ends do not send. */
  | { type: "paste"; text: string }
  | { type: "key"; name: KeyName }

export type KeyName =
  | "enter"
  | "newline"
  | "tab"
  | "escape"
  | "interrupt"
  | "end-of-input"
  | "clear-screen"
  | "backspace"
  | "delete"
  | "delete-word"
  | "delete-to-start"
  | "delete-to-end"
  | "left"
  | "right"
  | "up"
  | "down"
  | "word-left"
  | "word-right"
  | "line-start"
  | "line-end"

const keyNames: Readonly<Record<string, KeyName>> = {
  "\r": "enter",
  // Ctrl-J, Alt-Enter, and Shift-Enter of terminals that report it.
  "\n": "newline",
  "\x1b\r": "newline",
  "\x1b\n": "newline",
  "\x1b[13;2u": "newline",
  "\x1b[27;2;13~": "newline",
  "\t": "tab",
  "\x1b": "escape",
  "\x03": "interrupt",
  "\x04": "end-of-input",
  "\x0c": "clear-screen",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x1b[3~": "delete",
  "\x17": "delete-word",
  "\x1b\x7f": "delete-word",
  "\x15": "delete-to-start",
  "\x0b": "delete-to-end",
  "\x1b[D": "left",
  "\x1bOD": "left",
  "\x02": "left",
  "\x1b[C": "right",
  "\x1bOC": "right",
  "\x06": "right",
  "\x1b[A": "up",
  "\x1bOA": "up",
  "\x10": "up",
  "\x1b[B": "down",
  "\x1bOB": "down",
  "\x0e": "down",
  "\x1b[1;5D": "word-left",
  "\x1b[1;3D": "word-left",
  "\x1bb": "word-left",
  "\x1b[1;5C": "word-right",
  "\x1b[1;3C": "word-right",
  "\x1bf": "word-right",
  "\x1b[H": "line-start",
  "\x1bOH": "line-start",
  "\x1b[1~": "line-start",
  "\x01": "line-start",
  "\x1b[F": "line-end",
  "\x1bOF": "line-end",
  "\x1b[4~": "line-end",
  "\x05": "line-end",
}

const pasteStart = "\x1b[200~"
const pasteEnd = "\x1b[201~"
// One key: a sequence, Alt with a character, a control character, or plain text.
const keyPattern = /\x1b\[[\d;<?]*[ -/]*[@-~]|\x1bO[@-~]|\x1b[^\x1b[O]|\x1b|[\x00-\x1a\x1c-\x1f\x7f]|[^\x00-\x1f\x7f]+/g
const unfinished = /\x1b(?:\[[\d;<?]*|O)?$/

export interface KeyReader {
  /** Reads decoded input, whose pieces may end within a key. */
  read(text: string): void
  end(): void
}

/** Calls `press` for each key. Sequences of unknown keys are ignored. */
export function createKeyReader(press: (key: Key) => void, escapeTimeoutMs = 50): KeyReader {
  let pending = ""
  let pasted: string | undefined
  let timer: NodeJS.Timeout | undefined

  function pressAll(text: string): void {
    for (const [key] of text.matchAll(keyPattern)) {
      const name = Object.hasOwn(keyNames, key) ? keyNames[key] : undefined
      if (name) press({ type: "key", name })
      else if (!/^[\x00-\x1f\x7f]/.test(key)) pressText("text", key)
    }
  }

  function pressText(type: "text" | "paste", text: string): void {
    const safe = safeText(text)
    if (safe !== "") press({ type, text: safe })
  }

  function readPaste(text: string): string {
    const whole = (pasted ?? "") + text
    const end = whole.indexOf(pasteEnd)
    if (end === -1) {
      pasted = whole
      return ""
    }
    pasted = undefined
    pressText("paste", whole.slice(0, end))
    return whole.slice(end + pasteEnd.length)
  }

  function read(text: string): void {
    if (pasted !== undefined) {
      const rest = readPaste(text)
      return pasted === undefined && rest !== "" ? read(rest) : undefined
    }
    const start = text.indexOf(pasteStart)
    if (start !== -1) {
      pressAll(text.slice(0, start))
      pasted = ""
      return read(text.slice(start + pasteStart.length))
    }
    pending = unfinished.exec(text)?.[0] ?? ""
    pressAll(text.slice(0, text.length - pending.length))
    if (pending === "") return
    // Escape also begins the sequences of other keys: if nothing follows, it is the escape key.
    timer = setTimeout(() => {
      const key = pending
      pending = ""
      pressAll(key)
    }, timerMs(escapeTimeoutMs))
  }

  return {
    read(text) {
      clearTimeout(timer)
      const whole = pending + text
      pending = ""
      read(whole)
    },
    end: () => clearTimeout(timer),
  }
}
