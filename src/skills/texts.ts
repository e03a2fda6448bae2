import type { Skill } from "../skills.ts"
import type { SkillFile } from "./files.ts"
import { skillFunctions } from "./functions.ts"

type Language = "typescript" | "python"

/** What the model is told of skills from the start: that they are there, and how to get at one. */
export function skillsSection(skills: readonly Pick<Skill, "name" | "description">[], language: Language): string {
  const { activate, wait } = skillFunctions[language]
  const list = skills.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, " ")}`)
  const how = `Instructions for kinds of tasks. Before a task that one fits, run \`${wait}${activate}("<name>")\` in a cell of its own: what to do, with the skill's functions and files, follows its output.`
  return `# Skills\n\n${how}\n\n${list.join("\n")}`
}

export interface Activated {
  skill: Skill
  files: readonly SkillFile[]
  /** Of what it has put in, and the tag of the block they are shown in. */
  declarations: string
  tag: string
  /** A module that it has for the other language. */
  elsewhere: string | undefined
  language: Language
}

/** What the model is told of a skill when it activates it. */
export function activationText({ skill, files, declarations, tag, elsewhere, language }: Activated): string {
  const { read, wait } = skillFunctions[language]
  const { name, instructions, compatibility } = skill
  const parts = [
    instructions || "(It has no instructions.)",
    compatibility && `Compatibility: ${compatibility}`,
    declarations && `New in the session:\n\n\`\`\`${tag}\n${declarations}\n\`\`\``,
    elsewhere && `What its ${elsewhere} provides is for another language and is not in this session.`,
    files.length > 0 && `Its files, as \`${wait}${read}("${name}", "<path>")\` gives them:\n${fileList(files)}`,
  ]
  return `<skill name="${name}">\n${parts.filter(Boolean).join("\n\n")}\n</skill>`
}

const mostListed = 100

function fileList(files: readonly SkillFile[]): string {
  const lines = files.slice(0, mostListed).map(({ path, bytes }) => `- ${path} (${bytes} bytes)`)
  return files.length > mostListed ? [...lines, `- and ${files.length - mostListed} more`].join("\n") : lines.join("\n")
}
