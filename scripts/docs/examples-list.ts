// Writes examples/README.md: one line for each example, from the first sentence of its file.
import { globSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"

export const examplesPage = "examples/README.md"

const introduction = `# Examples

A numbered series. Each example shows one idea in fewer than 60 lines, and needs no key. In a clone of the repository,
run one with \`npm run example -- 01\`. From an installed package, copy one into your project and run it with \`node\`:
Node does not run TypeScript in \`node_modules\`.`

export function listOfExamples(root: string): string {
  const files = globSync("examples/*.ts", { cwd: root }).sort()
  const rows = files.map((file) => {
    const { about } = readExample(root, file)
    const [sentence = about] = /^.*?\.(?= |$)/.exec(about) ?? []
    return `| [${basename(file, ".ts")}](${basename(file)}) | ${sentence.replace(/\.$/, "")} |`
  })
  return `${introduction}\n\n| example | what it shows |\n|---|---|\n${rows.join("\n")}\n`
}

export interface Example {
  /** The first comment of the file, as one line. */
  about: string
  /** The file without that comment. */
  code: string
}

export function readExample(root: string, file: string): Example {
  const text = readFileSync(join(root, file), "utf8")
  const [comment = ""] = /^(?:\/\/.*\n)*/.exec(text) ?? []
  const about = comment
    .replaceAll(/^\/\/ ?/gm, "")
    .replaceAll("\n", " ")
    .trim()
  return { about, code: text.slice(comment.length) }
}
