import { spawnSync } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { waitUntil } from "../cli-machines.ts"

/** A terminal in tmux, which renders the screen as a person would see it. */
export interface Tmux extends AsyncDisposable {
  screen(): string
  sees(text: string | RegExp): Promise<void>
  /** Types a text, then keys by tmux's names for them. */
  type(text: string, ...keys: string[]): void
  resize(columns: number, rows: number): void
  /** Whether the alternate screen is on, the cursor is visible, and the mouse is reported. */
  state(): { otherScreen: boolean; cursor: boolean; mouse: boolean }
}

/** Starts a shell in a terminal of 100 columns and 30 rows. */
export async function openTmux(cwd: string, env: Record<string, string>): Promise<Tmux> {
  const folder = await mkdtemp(join(tmpdir(), "karst-tmux-"))
  const tmux = (...args: string[]): string => {
    const done = spawnSync("tmux", ["-S", join(folder, "socket"), "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env,
    })
    if (done.status !== 0) throw done.error ?? new Error(`tmux ${args[0]}: ${done.stderr}`)
    return done.stdout
  }
  tmux("new-session", "-d", "-x", "100", "-y", "30", "-c", cwd, "sh")
  const screen = () => tmux("capture-pane", "-p")
  return {
    screen,
    sees: (text) =>
      waitUntil(`${text} is on the screen`, () => {
        const shown = screen()
        return typeof text === "string" ? shown.includes(text) : text.test(shown)
      }).catch((error: Error) => {
        throw new Error(`${error.message} It shows:\n${screen()}`)
      }),
    type(text, ...keys) {
      if (text !== "") tmux("send-keys", "-l", text)
      for (const key of keys) tmux("send-keys", key)
    },
    resize: (columns, rows) => void tmux("resize-window", "-x", String(columns), "-y", String(rows)),
    state() {
      const [otherScreen, cursor, mouse] = tmux("display", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}")
        .trim()
        .split(" ")
        .map((flag) => flag === "1") as [boolean, boolean, boolean]
      return { otherScreen, cursor, mouse }
    },
    async [Symbol.asyncDispose]() {
      tmux("kill-server")
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
