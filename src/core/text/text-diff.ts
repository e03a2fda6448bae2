// A line diff between a recorded text and the current one.

/** Shows the lines that differ, with two equal lines before and after them. */
export function textDiff(expected: string, actual: string): string {
  const [before, now] = [expected.split("\n"), actual.split("\n")]
  let start = 0
  while (start < Math.min(before.length, now.length) && before[start] === now[start]) start++
  let end = 0
  while (end < Math.min(before.length, now.length) - start && before.at(-1 - end) === now.at(-1 - end)) end++
  const marked = (lines: readonly string[], mark: string) =>
    firstLines(lines.slice(start, lines.length - end)).map((line) => `${mark} ${line}`)
  const around = (lines: readonly string[]) => lines.map((line) => `  ${line}`)
  return [
    "- recorded",
    "+ now",
    "",
    ...around(before.slice(Math.max(0, start - 2), start)),
    ...marked(before, "-"),
    ...marked(now, "+"),
    ...around(before.slice(before.length - end, before.length - end + 2)),
  ].join("\n")
}

function firstLines(lines: readonly string[]): readonly string[] {
  return lines.length > 40 ? [...lines.slice(0, 40), `… ${lines.length - 40} more lines`] : lines
}
