// Progress and reports on the terminal.
import { aboutText, checksTable } from "./chapters.ts"
import type { StoredReport } from "./suite.ts"
import { terminalTable } from "./tables.ts"

export interface ProgressLine {
  say(line: string): void
  show(suite: string, done: number, total: number, task: string): void
  end(): void
}

/** Shows progress in one line of a terminal, or a line for each tenth in other outputs. */
export function progressLine(output: NodeJS.WriteStream): ProgressLine {
  const rewrites = output.isTTY === true
  let shown = ""
  const clear = () => {
    if (rewrites && shown !== "") output.write("\r\x1b[K")
    shown = ""
  }
  return {
    say(line) {
      clear()
      output.write(`${line}\n`)
    },
    show(suite, done, total, task) {
      if (rewrites) {
        clear()
        shown = `${suite}: ${done} of ${total}, ${task}`.slice(0, Math.max(20, (output.columns ?? 80) - 1))
        output.write(shown)
        return
      }
      const tenth = Math.floor((done * 10) / total)
      if (tenth !== Math.floor(((done - 1) * 10) / total)) output.write(`${suite}: ${done} of ${total}\n`)
    },
    end: clear,
  }
}

/** The tables of one report. */
export function terminalReport(stored: StoredReport): string {
  const { suite, tokenizer, report } = stored
  const { checks, sections, skipped = [] } = report
  const failures = checks.flatMap(({ what, failures = [] }) => failures.map((failure) => `FAILED ${what}: ${failure}`))
  return [
    `${suite}: ${aboutText(stored)} (${tokenizer})`,
    ...(checks.length > 0 ? [terminalTable(checksTable(checks))] : []),
    ...failures,
    ...sections.flatMap(({ title, table }) => (table ? [`${title}\n${terminalTable(table)}`] : [])),
    ...skipped.map(({ what, why }) => `Not run: ${what}: ${why}`),
  ].join("\n\n")
}
