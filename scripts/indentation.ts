// A rollup plugin that makes the files of dist a tenth smaller: tabs in place of four spaces. String and template
// literals keep every character.
import type { Plugin } from "rollup"

export function narrowIndentation(): Plugin {
  return {
    name: "narrow-indentation",
    renderChunk(code) {
      const texts = textsOf(this.parse(code))
      let narrowed = ""
      let at = 0
      for (const { start, end } of texts) {
        narrowed += indentByTabs(code.slice(at, start)) + code.slice(start, end)
        at = end
      }
      return { code: narrowed + indentByTabs(code.slice(at)), map: null }
    },
  }
}

function indentByTabs(code: string): string {
  return code.replaceAll(/\n {2,}/g, (spaces) => `\n${"\t".repeat(Math.floor((spaces.length - 1) / 4))}`)
}

interface Place {
  start: number
  end: number
}

/** The literals and the texts of templates, in their order: only they may contain a line break that has a meaning. */
function textsOf(tree: object): Place[] {
  const found: Place[] = []
  const waiting: unknown[] = [tree]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (typeof node !== "object" || node === null) continue
    if (isText(node)) found.push(node)
    else waiting.push(...Object.values(node))
  }
  return found.sort((one, other) => one.start - other.start)
}

function isText(node: object): node is Place {
  return "type" in node && (node.type === "TemplateElement" || node.type === "Literal")
}
