// Rewrites an encoding error so that it names the argument of the call: `Argument 1 of take(…), at [0].name,`.
export function nameArgumentInMessage(message: string, op: string, title: string): string {
  if (op === "set")
    return message.replace(/^the arguments\[0\]([^\s:]*)/, (_, rest) => `The value for ${title}${at(rest)}`)
  return message.replace(
    /^the arguments\[0\]\[(\d+)\]([^\s:]*)/,
    (_, index, rest) => `Argument ${Number(index) + 1} of ${title}(…)${at(rest)}`,
  )
}

function at(path: string): string {
  return path === "" ? "" : `, at ${path},`
}
