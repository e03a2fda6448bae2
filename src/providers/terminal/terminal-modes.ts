// Tracks the terminal modes that a program changes, so that they can be restored after it was killed: the alternate
// screen, a hidden cursor, mouse reporting.
export interface TerminalModes {
  /** Reads the program's output, in pieces that may end anywhere. */
  follow(chunk: Buffer): void
  /** The output that restores the terminal; empty if nothing is changed. */
  restoreSequence(): string
}

export function trackTerminalModes(): TerminalModes {
  /** Private modes that differ from their initial state, with their current state. */
  const changed = new Map<string, boolean>()
  /** Other changed settings, with the sequence that resets each. */
  const others = new Map<string, string>()
  let keyboardLevels = 0
  let incomplete = ""

  function applySequence(prefix: string, numbers: string, between: string, final: string): void {
    const kind = `${prefix}${between}${final}`
    if (kind === "?h" || kind === "?l") for (const mode of numbers.split(";")) setMode(mode, final === "h")
    else if (kind === ">u") keyboardLevels++
    else if (kind === "<u") keyboardLevels = Math.max(0, keyboardLevels - Number(numbers || 1))
    else if (kind === ">m") setOther("keys", /^4;[1-9]/.test(numbers), "\x1b[>4m")
    else if (kind === "m") setOther("style", !/^(.*;)?0?$/.test(numbers), "\x1b[0m")
    else if (kind === " q") setOther("cursor", Number(numbers) > 0, "\x1b[0 q")
    // Resetting the margins moves the cursor, so its position is saved and restored.
    else if (kind === "r") setOther("margins", numbers !== "", "\x1b7\x1b[r\x1b8")
    else if (kind === "!p") reset()
  }

  function setMode(mode: string, on: boolean): void {
    if (on === initiallyOn.has(mode)) changed.delete(mode)
    else changed.set(mode, on)
  }

  function setOther(what: string, isChanged: boolean, cure: string): void {
    if (isChanged) others.set(what, cure)
    else others.delete(what)
  }

  function reset(): void {
    changed.clear()
    others.clear()
    keyboardLevels = 0
  }

  return {
    follow(chunk) {
      if (incomplete === "" && !chunk.includes(27)) return
      const text = incomplete + chunk.toString("latin1")
      for (const [, prefix = "", numbers = "", between = "", final, single] of text.matchAll(sequence)) {
        if (final !== undefined) applySequence(prefix, numbers, between, final)
        else if (single === "c") reset()
        else setOther("keypad", single === "=", "\x1b>")
      }
      incomplete = unfinishedSequence.exec(text)?.[0] ?? ""
    },
    restoreSequence() {
      const keyboard = keyboardLevels > 0 ? `\x1b[<${keyboardLevels}u` : ""
      const modes = [...changed].map(([mode, on]) => `\x1b[?${mode}${on ? "l" : "h"}`)
      return [keyboard, ...others.values(), ...modes].join("")
    },
  }
}

// Line wrap and the cursor.
const initiallyOn = new Set(["7", "25"])

const sequence = /\x1b(?:\[([?<=>]?)([\d;]*)([ !]?)([a-zA-Z])|([=>c]))/g
const unfinishedSequence = /\x1b(?:\[[?<=>]?[\d;]{0,64}[ !]?)?$/
