// Evaluates the expressions of the tool `calculate`: numbers, + - * / // **, parentheses and signs.

/** Throws an Error if the text is no expression or divides by zero. */
export function evaluate(expression: string): number {
  const tokens = expression.match(/\d+\.?\d*|\.\d+|\*\*|\/\/|[+\-*/()]|\S/g) ?? []
  let position = 0
  const take = (...wanted: string[]): string | undefined => {
    const token = tokens[position]
    if (token === undefined || !wanted.includes(token)) return undefined
    position++
    return token
  }

  function sum(): number {
    let value = product()
    for (let operator = take("+", "-"); operator; operator = take("+", "-")) {
      const right = product()
      value = operator === "+" ? value + right : value - right
    }
    return value
  }

  function product(): number {
    let value = signed()
    for (let operator = take("*", "/", "//"); operator; operator = take("*", "/", "//")) {
      const right = signed()
      if (operator !== "*" && right === 0) throw new Error("division by zero")
      value = operator === "*" ? value * right : operator === "/" ? value / right : Math.floor(value / right)
    }
    return value
  }

  function signed(): number {
    const sign = take("+", "-")
    if (sign) return sign === "-" ? -signed() : signed()
    const base = atom()
    return take("**") ? base ** signed() : base
  }

  function atom(): number {
    if (take("(")) {
      const value = sum()
      if (!take(")")) throw new Error("invalid syntax")
      return value
    }
    const token = tokens[position++]
    if (token === undefined || !/^[\d.]+$/.test(token)) throw new Error("invalid syntax")
    return Number(token)
  }

  const value = sum()
  if (position < tokens.length) throw new Error("invalid syntax")
  return value
}
