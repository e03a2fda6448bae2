// Recognises the keys of a menu in terminal input.
export type MenuKey = "up" | "down" | "choose" | "cancel"

const keys: Readonly<Record<string, MenuKey>> = {
  "\x1b[A": "up",
  "\x1bOA": "up",
  k: "up",
  "\x1b[B": "down",
  "\x1bOB": "down",
  j: "down",
  "\r": "choose",
  "\n": "choose",
  "\x1b": "cancel",
  q: "cancel",
  "\x03": "cancel",
  "\x04": "cancel",
}

/** Calls `press` for each key of the input, whose pieces may end within a key. Other keys are ignored. */
export function createMenuKeyReader(
  press: (key: MenuKey) => void,
  escapeTimeoutMs = 50,
): { read(text: string): void; end(): void } {
  let incomplete = ""
  let timer: NodeJS.Timeout | undefined

  function pressKey(text: string): void {
    const key = Object.hasOwn(keys, text) ? keys[text] : undefined
    if (key) press(key)
  }

  return {
    read(text) {
      clearTimeout(timer)
      const whole = incomplete + text
      incomplete = unfinishedKey.exec(whole)?.[0] ?? ""
      for (const [key] of whole.slice(0, whole.length - incomplete.length).matchAll(keyPattern)) pressKey(key)
      if (incomplete === "") return
      // Escape also starts the sequence of an arrow key: if nothing follows, it is the escape key.
      timer = setTimeout(() => {
        const text = incomplete
        incomplete = ""
        pressKey(text)
      }, escapeTimeoutMs)
    },
    end: () => clearTimeout(timer),
  }
}

const keyPattern = /\x1b(?:\[[\d;<?]*[A-Za-z~]|O[A-Z])?|[^\x1b]/g
const unfinishedKey = /\x1b(?:\[[\d;<?]*|O)?$/
