// Finds an object literal at the start of a statement, which JavaScript reads as a block.
import type { Program, Statement } from "acorn"
import { parseTypeScript } from "./typescript-parser.ts"

export const objectLiteralHint = "{ at the start of a statement opens a block; to get an object, write ({ … })"

/** Returns the position of a block that can only be meant as an object: `{ a: 1 }` anywhere, or `{ a, b }` at the end,
 *  where it would have no value. */
export function findObjectLiteral({ body }: Program): number | undefined {
  for (const node of body) {
    if (node.type !== "BlockStatement" || node.body.length === 0) continue
    const isLabels = node.body.every((inner) => {
      return inner.type === "LabeledStatement" && inner.body.type === "ExpressionStatement"
    })
    if (isLabels || (node === body.at(-1) && isNames(node.body))) return node.start
  }
  return undefined
}

/** Returns the position of the object literal at the end of a cell that cannot be parsed because of it. */
export function findBrokenObjectLiteral(code: string, failedAt: number): number | undefined {
  const start = lastStatementBrace(code, failedAt)
  if (start === undefined) return undefined
  try {
    const { body } = parseTypeScript(`(${code.slice(start).trimEnd().replace(/;$/, "")}\n)`)
    const [statement] = body
    const isObject = statement?.type === "ExpressionStatement" && statement.expression.type === "ObjectExpression"
    return body.length === 1 && isObject ? start : undefined
  } catch {
    return undefined
  }
}

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

function isNames(statements: readonly Statement[]): boolean {
  const [statement] = statements
  if (statements.length !== 1 || statement?.type !== "ExpressionStatement") return false
  const { expression } = statement
  if (expression.type === "Identifier") return true
  return expression.type === "SequenceExpression" && expression.expressions.every(({ type }) => type === "Identifier")
}
