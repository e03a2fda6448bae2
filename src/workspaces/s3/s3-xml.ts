// Reads the simple XML of S3's responses.

/** The text of the first element of a name, or undefined. S3's XML is flat: elements never contain their own name,
 *  and only the root has attributes. */
export function elementText(xml: string, name: string): string | undefined {
  const { value } = eachElementContent(xml, name).next()
  return value === undefined ? undefined : unescapeXml(value)
}

export function elementContents(xml: string, name: string): string[] {
  return [...eachElementContent(xml, name)]
}

function* eachElementContent(xml: string, name: string): Generator<string, undefined> {
  const [open, close] = [`<${name}>`, `</${name}>`]
  for (let start = xml.indexOf(open); start !== -1; ) {
    const end = xml.indexOf(close, start)
    if (end === -1) return
    yield xml.slice(start + open.length, end)
    start = xml.indexOf(open, end)
  }
}

/** Returns true if the response arrived completely. */
export function isCompleteXml(xml: string, root: string): boolean {
  return xml.trimEnd().endsWith(`</${root}>`)
}

function unescapeXml(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z]+));/gi,
    (all, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return entities[name.toLowerCase()] ?? all
      const point = hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return point <= 0x10ffff ? String.fromCodePoint(point) : all
    },
  )
}

const entities: { [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }
