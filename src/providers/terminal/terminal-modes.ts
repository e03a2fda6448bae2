// Tracks the terminal modes that a program changes (the alternate screen, a hidden cursor, mouse reporting), so that
// they can be restored when it ends, even if it was killed.
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

  function applySequence(prefix: string, numbers: string, intermediate: string, final: string): void {
    const kind = `${prefix}${intermediate}${final}`
    if (kind === "?h" || kind === "?l") for (const mode of numbers.split(";")) recordMode(mode, final === "h")
    // The kitty keyboard protocol: push and pop.
    else if (kind === ">u") keyboardLevels++
    else if (kind === "<u") keyboardLevels = Math.max(0, keyboardLevels - Number(numbers || 1))
    else if (kind === ">m") recordSetting("modifyOtherKeys", /^4;[1-9]/.test(numbers), "\x1b[>4m")
    else if (kind === "m") recordSetting("style (SGR)", !/^(.*;)?0?$/.test(numbers), "\x1b[0m")
    else if (kind === " q") recordSetting("cursor style (DECSCUSR)", Number(numbers) > 0, "\x1b[0 q")
    // Resetting the margins moves the cursor, so its position is saved and restored.
    else if (kind === "r") recordSetting("margins (DECSTBM)", numbers !== "", "\x1b7\x1b[r\x1b8")
    // Soft reset (DECSTR).
    else if (kind === "!p") reset()
  }

  function recordMode(mode: string, on: boolean): void {
    if (on === initiallyOn.has(mode)) changed.delete(mode)
    else changed.set(mode, on)
  }

  function recordSetting(setting: string, isChanged: boolean, resetSequence: string): void {
    if (isChanged) others.set(setting, resetSequence)
    else others.delete(setting)
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
      for (const [, prefix = "", numbers = "", intermediate = "", final, singleCharacter] of text.matchAll(sequence)) {
        if (final !== undefined) applySequence(prefix, numbers, intermediate, final)
        // Full reset (RIS).
        else if (singleCharacter === "c") reset()
        else recordSetting("keypad mode", singleCharacter === "=", "\x1b>")
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

// Modes that are on in a new terminal: line wrap (7), visible cursor (25).
const initiallyOn = new Set(["7", "25"])

const sequence = /\x1b(?:\[([?<=>]?)([\d;]*)([ !]?)([a-zA-Z])|([=>c]))/g
const unfinishedSequence = /\x1b(?:\[[?<=>]?[\d;]{0,64}[ !]?)?$/
