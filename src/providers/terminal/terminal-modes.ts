// Tracks the terminal modes that a program changes (the alternate screen, a hidden cursor, mouse reporting), so that
// they can be restored when it ends, even if it was killed. Where terminals differ, a setting counts as changed:
// restoring an initial value again does no harm.
export function trackTerminalModes() {
  /** Modes that differ from their initial state, with their current state; private ones begin with "?". */
  const changed = new Map<string, boolean>()
  /** Sequences that reset other changed settings. */
  const resets = new Set<string>()
  /** Levels of the kitty keyboard protocol; each screen has its own. */
  let levels = { main: 0, alternate: 0 }
  /** The style was saved with the cursor, so moving the cursor back can bring it back. */
  let isStyleSaved = false
  let incomplete = ""

  const screen = () => (alternateScreen.some((mode) => changed.has(mode)) ? "alternate" : "main")

  function applySequence(prefix: string, numbers: string, intermediate: string, final: string): void {
    const kind = `${prefix}${intermediate}${final}`
    const [first = "", second = ""] = numbers.split(";")
    if (/^\??[hl]$/.test(kind)) {
      for (const mode of numbers.split(";").map(Number)) if (mode > 0) recordMode(`${prefix}${mode}`, final === "h")
    }
    // The kitty keyboard protocol: push and pop.
    else if (kind === ">u") levels[screen()]++
    else if (kind === "<u") levels[screen()] = Math.max(0, levels[screen()] - (Number(numbers) || 1))
    // modifyOtherKeys (4) is initially 0; the initial values of the other key settings differ between terminals.
    else if (kind === ">m" && first === "") for (const reset of resets) record(reset, !reset.startsWith("\x1b[>"))
    else if (kind === ">m") record(`\x1b[>${first}m`, first === "4" ? Number(second) > 0 : second !== "")
    // Not a reset: the last number of a colour, such as `38;5;0`.
    else if (kind === "m") record(resetStyle, !/^(?!.*[345]8)(.*;)?0*$/.test(numbers))
    else if (kind === " q") record("\x1b[0 q", Number(numbers) > 0)
    else if (kind === "r") record(resetMargins, /[1-9]/.test(numbers))
    else if (kind === "s") saveCursor()
    else if (kind === "!p") softReset()
  }

  function recordMode(mode: string, on: boolean): void {
    if (on && (mode === "?1048" || mode === "?1049")) saveCursor()
    // It saves or restores the cursor and has no state.
    if (mode === "?1048") return
    // Each of these modes leaves the alternate screen, whichever entered it.
    if (!on && alternateScreen.includes(mode)) for (const each of alternateScreen) changed.delete(each)
    else if (on === initiallyOn.includes(mode)) changed.delete(mode)
    else changed.set(mode, on)
  }

  function record(reset: string, isChanged: boolean): void {
    if (isChanged) resets.add(reset)
    else resets.delete(reset)
  }

  function saveCursor(): void {
    isStyleSaved ||= resets.has(resetStyle)
  }

  // DECSTR keeps the screen and the reporting of mouse, focus and paste.
  function softReset(): void {
    for (const mode of softResetModes) changed.delete(mode)
    for (const reset of [resetStyle, resetMargins, resetKeypad]) resets.delete(reset)
  }

  // RIS.
  function fullReset(): void {
    changed.clear()
    resets.clear()
    levels = { main: 0, alternate: 0 }
    isStyleSaved = false
  }

  return {
    /** Reads the program's output, in pieces that may end anywhere. */
    follow(chunk: Buffer): void {
      if (incomplete === "" && !chunk.includes(27)) return
      const text = incomplete + chunk.toString("latin1")
      for (const [, prefix = "", numbers = "", intermediate = "", final, singleCharacter] of text.matchAll(sequence)) {
        if (final !== undefined) applySequence(prefix, numbers, intermediate, final)
        else if (singleCharacter === "c") fullReset()
        else if (singleCharacter === "7") saveCursor()
        else record(resetKeypad, singleCharacter === "=")
      }
      incomplete = unfinishedSequence.exec(text)?.[0] ?? ""
    },
    /** The output that restores the terminal; empty if nothing is changed. */
    restoreSequence(): string {
      const pop = (count: number) => (count > 0 ? `\x1b[<${count}u` : "")
      const undo = (isScreen: boolean) =>
        [...changed]
          .filter(([mode]) => alternateScreen.includes(mode) === isScreen)
          .map(([mode, on]) => `\x1b[${mode}${on ? "l" : "h"}`)
      const leave = [screen() === "main" ? "" : pop(levels.alternate), ...undo(true), pop(levels.main)]
      return [...leave, ...resets.union(new Set(isStyleSaved ? [resetStyle] : [])), ...undo(false)].join("")
    },
  }
}

// Line wrap, automatic repeat, visible cursor, num lock, no local echo.
const initiallyOn = ["?7", "?8", "?25", "?1035", "12"]
const alternateScreen = ["?47", "?1047", "?1049"]
// Cursor keys, origin, visible cursor, keypad, locked keyboard, insert mode.
const softResetModes = ["?1", "?6", "?25", "?66", "2", "4"]

const resetStyle = "\x1b[0m"
// Resetting the margins moves the cursor, so its position is saved and restored.
const resetMargins = "\x1b7\x1b[r\x1b8"
const resetKeypad = "\x1b>"

const sequence = /\x1b(?:\[([<=>?]?)([\d:;]*)([ -/]*)([@-~])|([=>c7]))/g
const unfinishedSequence = /\x1b(?:\[[<=>?]?[\d:;]{0,256}[ -/]{0,4})?$/
