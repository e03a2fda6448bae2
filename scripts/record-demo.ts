// `node scripts/bootstrap.mjs scripts/record-demo.ts` runs `karst demo` in a real terminal (tmux) and writes
// docs/images/demo.svg, which the README shows.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as after } from "node:timers/promises"
import { type Frame, terminalSvg } from "./docs/terminal-svg.ts"
import { root } from "./tools.ts"

const size = { columns: 96, rows: 30 }
const pollMs = 120
// A frame is shown at most this long. The last one stays.
const maxFrameMs = 900
const endMs = 1000

const folder = mkdtempSync(join(tmpdir(), "karst-record-"))
const socket = join(folder, "tmux")
try {
  const program = [process.execPath, ...process.execArgv, join(root, "src/cli/bin.ts"), "demo", "--out", folder]
  const shell = `printf '\\033[2m$\\033[0m npx karst demo\\n'; sleep 1; exec ${program.map((word) => `'${word}'`).join(" ")}`
  tmux("-f", "/dev/null", "new-session", "-d", "-x", String(size.columns), "-y", String(size.rows), "sleep 3600")
  tmux("set-option", "-g", "remain-on-exit", "on")
  tmux("set-option", "-g", "status", "off")
  tmux("respawn-pane", "-k", "-c", root, `FORCE_COLOR=1 sh -c ${quoted(shell)}`)
  const svg = terminalSvg(await record(), "A terminal in which `npx karst demo` runs")
  mkdirSync(join(root, "docs/images"), { recursive: true })
  writeFileSync(join(root, "docs/images/demo.svg"), svg)
  console.log(`docs/images/demo.svg: ${Math.round(svg.length / 1024)} KB`)
} finally {
  tmux("kill-server")
  rmSync(folder, { recursive: true, force: true })
}

/** The distinct screens until the program has ended. */
async function record(): Promise<Frame[]> {
  const frames: Frame[] = []
  for (let ended = false; !ended; await after(pollMs)) {
    ended = tmux("display-message", "-p", "#{pane_dead}").trim() === "1"
    const lines = screen()
    const last = frames.at(-1)
    if (last && last.lines.join("\n") === lines.join("\n")) last.ms = Math.min(last.ms + pollMs, maxFrameMs)
    else frames.push({ lines, ms: pollMs })
  }
  const last = frames.at(-1)
  if (last) last.ms = endMs
  return frames
}

/** The lines of the screen, without the line in which tmux says that the program has ended. */
function screen(): string[] {
  return tmux("capture-pane", "-e", "-p")
    .trimEnd()
    .split("\n")
    .filter((line) => !line.includes("Pane is dead"))
    .map((line) => line.replaceAll(folder, "karst-demo").trimEnd())
}

function tmux(...args: string[]): string {
  return execFileSync("tmux", ["-S", socket, ...args], { encoding: "utf8" })
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
