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

/** Reads what is typed at a menu, in pieces that may end within a key. What means nothing there is left out. */
export function createMenuKeyReader(
  press: (key: MenuKey) => void,
  patienceMs = 50,
): { read(text: string): void; end(): void } {
  let held = ""
  let timer: NodeJS.Timeout | undefined

  function tell(text: string): void {
    const key = Object.hasOwn(keys, text) ? keys[text] : undefined
    if (key) press(key)
  }

  return {
    read(text) {
      clearTimeout(timer)
      const whole = held + text
      held = unfinishedKey.exec(whole)?.[0] ?? ""
      for (const [key] of whole.slice(0, whole.length - held.length).matchAll(keyPattern)) tell(key)
      if (held === "") return
      // An arrow begins as the escape key does, which nothing follows.
      timer = setTimeout(() => {
        const waiting = held
        held = ""
        tell(waiting)
      }, patienceMs)
    },
    end: () => clearTimeout(timer),
  }
}

const keyPattern = /\x1b(?:\[[\d;<?]*[A-Za-z~]|O[A-Z])?|[^\x1b]/g
const unfinishedKey = /\x1b(?:\[[\d;<?]*|O)?$/
