/** Follows what a program does to a terminal, so that what it leaves changed can be undone: one that is killed leaves another
 *  screen, a hidden cursor or a mouse that types. */
export interface TerminalModes {
  /** Takes what the program writes, in pieces that may end anywhere. */
  follow(chunk: Buffer): void
  /** What puts the terminal back as it was; empty where nothing is left changed. */
  restoreSequence(): string
}

export function trackTerminalModes(): TerminalModes {
  /** Private modes that differ from what they are at first, with what they are now. */
  const changed = new Map<string, boolean>()
  /** Anything else that is changed: what undoes it, by what it is. */
  const others = new Map<string, string>()
  let keyboards = 0
  let held = ""

  function take(prefix: string, numbers: string, between: string, final: string): void {
    const kind = `${prefix}${between}${final}`
    if (kind === "?h" || kind === "?l") for (const mode of numbers.split(";")) setMode(mode, final === "h")
    else if (kind === ">u") keyboards++
    else if (kind === "<u") keyboards = Math.max(0, keyboards - Number(numbers || 1))
    else if (kind === ">m") leave("keys", /^4;[1-9]/.test(numbers), "\x1b[>4m")
    else if (kind === "m") leave("style", !/^(.*;)?0?$/.test(numbers), "\x1b[0m")
    else if (kind === " q") leave("cursor", Number(numbers) > 0, "\x1b[0 q")
    // It moves the cursor, which is put back.
    else if (kind === "r") leave("margins", numbers !== "", "\x1b7\x1b[r\x1b8")
    else if (kind === "!p") reset()
  }

  function setMode(mode: string, on: boolean): void {
    if (on === initiallyOn.has(mode)) changed.delete(mode)
    else changed.set(mode, on)
  }

  function leave(what: string, isChanged: boolean, cure: string): void {
    if (isChanged) others.set(what, cure)
    else others.delete(what)
  }

  function reset(): void {
    changed.clear()
    others.clear()
    keyboards = 0
  }

  return {
    follow(chunk) {
      if (held === "" && !chunk.includes(27)) return
      const text = held + chunk.toString("latin1")
      for (const [, prefix = "", numbers = "", between = "", final, single] of text.matchAll(sequence)) {
        if (final !== undefined) take(prefix, numbers, between, final)
        else if (single === "c") reset()
        else leave("keypad", single === "=", "\x1b>")
      }
      held = unfinishedSequence.exec(text)?.[0] ?? ""
    },
    restoreSequence() {
      const keyboard = keyboards > 0 ? `\x1b[<${keyboards}u` : ""
      const modes = [...changed].map(([mode, on]) => `\x1b[?${mode}${on ? "l" : "h"}`)
      return [keyboard, ...others.values(), ...modes].join("")
    },
  }
}

// The cursor is shown, and lines wrap.
const initiallyOn = new Set(["7", "25"])

const sequence = /\x1b(?:\[([?<=>]?)([\d;]*)([ !]?)([a-zA-Z])|([=>c]))/g
const unfinishedSequence = /\x1b(?:\[[?<=>]?[\d;]{0,64}[ !]?)?$/
