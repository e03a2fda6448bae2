// A menu in the terminal, controlled by arrow keys.
import { onAbort } from "../../core/abort.ts"
import { abortError } from "../../core/run.ts"
import { createMenuKeyReader, type MenuKey } from "./menu-keys.ts"
import { holdTerminal, type UserTerminal } from "./user-terminal.ts"

export interface MenuItem {
  title: string
  /** Shown beside the title. */
  note: string
}

/** Lets the user choose an item. Returns its index, or undefined if the user cancels. Clears the menu from the screen.
 *  Rejects with the signal's reason when it fires. */
export async function chooseFromMenu(
  { output, input }: UserTerminal,
  { question, items, signal }: { question: string; items: readonly MenuItem[]; signal?: AbortSignal | undefined },
): Promise<number | undefined> {
  if (signal?.aborted) throw abortError(signal)
  const height = items.length + 1
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  let selected = 0

  function draw(): void {
    const width = output.columns || 80
    const widest = Math.max(...items.map(({ title }) => title.length))
    const lines = items.map(({ title, note }, index) => {
      const name = title.padEnd(widest)
      const room = Math.max(0, width - widest - 6)
      const beside = note.length > room ? `${note.slice(0, Math.max(0, room - 1))}…` : note
      return `${index === selected ? `\x1b[36m❯ ${name}\x1b[39m` : `  ${name}`}  \x1b[2m${beside}\x1b[22m`
    })
    const shown = [`\x1b[1m${question}\x1b[22m`, ...lines]
    output.write(shown.map((line) => `\r\x1b[2K${line}\r\n`).join(""))
  }

  function press(key: MenuKey): void {
    if (key === "choose") return resolve(selected)
    if (key === "cancel") return resolve(undefined)
    selected = (selected + (key === "down" ? 1 : items.length - 1)) % items.length
    output.write(`\x1b[${height}A`)
    draw()
  }

  const keys = createMenuKeyReader(press)
  const stopListening = signal && onAbort(signal, () => reject(abortError(signal)))
  const held = holdTerminal(
    { input, output },
    {
      onInput: (bytes) => keys.read(bytes.toString("latin1")),
      onInterrupt(done) {
        resolve(undefined)
        done()
      },
      restoreSequence: () => `\x1b[${height}A\x1b[J\x1b[?25h`,
    },
  )
  output.write("\x1b[?25l")
  draw()
  try {
    return await promise
  } finally {
    stopListening?.()
    keys.end()
    held.release()
  }
}
