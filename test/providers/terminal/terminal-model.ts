/** A small terminal that reads one character at a time and keeps the state that outlives a program: modes, style, saved
 *  cursors, margins, keyboard. It follows xterm; the stacks of the keyboard follow kitty. */
export function createTerminalModel() {
  let terminal = initialState()
  let parser: { state: "text" | "escape" | "csi" | "charset" | "string"; read: string } = { state: "text", read: "" }

  const screen = () => (terminal.isAlternate ? terminal.alternate : terminal.main)

  function restoreCursor(): void {
    terminal.style = [...screen().savedStyle]
  }

  function setMode(mode: string, on: boolean): void {
    if (mode === "?1048" || mode === "?1049") {
      // The cursor of the main screen is saved before the screen changes, and restored after.
      if (on && mode === "?1049" && terminal.isAlternate) return
      if (on) screen().savedStyle = [...terminal.style]
    }
    if (["?47", "?1047", "?1049"].includes(mode)) terminal.isAlternate = on
    else if (mode !== "?1048" && on) terminal.modes.add(mode)
    else terminal.modes.delete(mode)
    if (!on && (mode === "?1048" || mode === "?1049")) restoreCursor()
  }

  function setStyle(parameters: string[]): void {
    for (let at = 0; at < parameters.length; at++) {
      const parameter = parameters[at] ?? ""
      if (parameter.includes(":")) terminal.style.push(parameter)
      else if (Number(parameter) === 0) terminal.style = []
      else {
        terminal.style.push(parameter)
        const kind = ["38", "48", "58"].includes(parameter) ? parameters[at + 1] : undefined
        if (kind !== undefined) at += kind === "5" ? 2 : kind === "2" ? 4 : 1
      }
    }
  }

  function runCsi(text: string): void {
    const [, prefix = "", list = "", end = ""] = /^([<=>?]?)([0-9:;]*)(.*)$/s.exec(text) ?? []
    const parameters = list.split(";")
    const [first = "", second = ""] = parameters
    const keyboard = screen().keyboard
    switch (prefix + end) {
      case "h":
      case "l":
      case "?h":
      case "?l":
        for (const mode of parameters) if (Number(mode) > 0) setMode(`${prefix}${Number(mode)}`, end === "h")
        break
      case "m":
        setStyle(parameters)
        break
      case ">m":
        if (first === "") terminal.keys = {}
        else if (second === "" || (first === "4" && second === "0")) delete terminal.keys[first]
        else terminal.keys[first] = second
        break
      case ">u":
        keyboard.push(first)
        break
      case "<u":
        keyboard.splice(Math.max(0, keyboard.length - (Number(first) || 1)))
        break
      case "r":
        terminal.margins = parameters.map((edge) => Number(edge)).filter((edge) => edge > 0)
        break
      case " q":
        terminal.cursorStyle = Number(first)
        break
      case "s":
        screen().savedStyle = [...terminal.style]
        break
      case "u":
        restoreCursor()
        break
      case "!p":
        for (const mode of ["?1", "?6", "?66", "4"]) terminal.modes.delete(mode)
        terminal.modes.add("?25")
        Object.assign(terminal, { style: [], margins: [], isKeypadApplication: false })
        screen().savedStyle = []
        break
    }
  }

  function runEscape(character: string): void {
    if (character === "c") terminal = initialState()
    else if (character === "7") screen().savedStyle = [...terminal.style]
    else if (character === "8") restoreCursor()
    else if (character === "=") terminal.isKeypadApplication = true
    else if (character === ">") terminal.isKeypadApplication = false
  }

  function readCharacter(character: string): void {
    const { state, read } = parser
    if (character === "\x1b") parser = { state: "escape", read: "" }
    else if (state === "escape") {
      const next = { "[": "csi", "]": "string", "(": "charset" } as const
      parser = { state: next[character as keyof typeof next] ?? "text", read: "" }
      runEscape(character)
    } else if (state === "csi" && character >= "@" && character <= "~") {
      parser = { state: "text", read: "" }
      runCsi(read + character)
    } else if (state === "csi") {
      // A character that cannot be part of a sequence ends it.
      parser = character < " " || character > "~" ? { state: "text", read: "" } : { state, read: read + character }
    } else if (state === "charset" || (state === "string" && character === "\x07")) parser = { state: "text", read: "" }
  }

  return {
    write(text: string) {
      for (const character of text) readCharacter(character)
    },
    /** What a user would see after the program. Saved cursors and the other screen's keyboard are out of sight. */
    state() {
      const { main, alternate: _, ...seen } = terminal
      return { ...seen, modes: [...seen.modes].sort(), keyboard: main.keyboard }
    },
  }
}

function initialState() {
  return {
    isAlternate: false,
    modes: new Set(["?7", "?8", "?25", "?1035", "12"]),
    style: [] as string[],
    margins: [] as number[],
    cursorStyle: 0,
    isKeypadApplication: false,
    keys: {} as { [key: string]: string },
    main: { savedStyle: [] as string[], keyboard: [] as string[] },
    alternate: { savedStyle: [] as string[], keyboard: [] as string[] },
  }
}
