// Finds an object literal at the start of a statement of a longer cell, where JavaScript reads it as a block. A cell
// that is only an object is one; see `parseTypeScript`.
import type { Program } from "acorn"
import { parseTypeScript } from "./typescript-parser.ts"

export const objectLiteralHint = "{ at the start of a statement opens a block; to get an object, write ({ … })"

/** Returns the position of a block that would be an object if it were the whole cell. */
export function findObjectLiteral(code: string, { body }: Program): number | undefined {
  if (body.length < 2) return undefined
  for (const { type, start, end } of body) {
    if (type === "BlockStatement" && isObject(code.slice(start, end))) return start
  }
  return undefined
}

/** Returns the position of the object literal at the end of a cell that cannot be parsed because of it. */
export function findBrokenObjectLiteral(code: string, failedAt: number): number | undefined {
  const start = lastStatementBrace(code, failedAt)
  return start !== undefined && isObject(code.slice(start)) ? start : undefined
}

function isObject(code: string): boolean {
  try {
    const { body } = parseTypeScript(code)
    return body.length === 1 && body[0]?.type === "ExpressionStatement"
  } catch {
    return false
  }
}

// Returns the last brace that starts a line.
function lastStatementBrace(code: string, before: number): number | undefined {
  for (let lineEnd = before; lineEnd >= 0; ) {
    const lineStart = code.lastIndexOf("\n", lineEnd - 1) + 1
    const brace = /^[ \t]*\{/.exec(code.slice(lineStart, lineStart + 200))
    if (brace && lineStart + brace[0].length <= before) return lineStart + brace[0].length - 1
    if (lineStart === 0) return undefined
    lineEnd = lineStart - 1
  }
  return undefined
}
