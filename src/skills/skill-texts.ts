import { codeBlock, oneLine, taggedText } from "../core/text/tagged-text.ts"
import type { Skill } from "../skills.ts"
import type { SkillFile } from "./skill-files.ts"
import { skillFunctions } from "./skill-functions.ts"

/** How a model gets at skills: by functions in cells of a language, or by a tool. */
export type SkillUse = "typescript" | "python" | "tool"

/** What the model is told of skills from the start: that they are there, and how to get at one. */
export function skillsSection(skills: readonly Pick<Skill, "name" | "description">[], use: SkillUse): string {
  const list = skills.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, " ")}`)
  return `# Skills\n\nInstructions for kinds of tasks. Before a task that one fits, ${howToActivate(use)}.\n\n${list.join("\n")}`
}

function howToActivate(use: SkillUse): string {
  if (use === "tool") return "call activate_skill with its name: what to do, with the skill's files, follows its result"
  const { activate, wait } = skillFunctions[use]
  return `run \`${wait}${activate}("<name>")\` in a cell of its own: what to do, with the skill's functions and files, follows its output`
}

export interface ActivatedSkill {
  skill: Skill
  files: readonly SkillFile[]
  /** Of what it has put in, and the tag of the block they are shown in. */
  declarations: string
  tag: string
  /** A module that it has for the other language. */
  otherLanguageFile: string | undefined
  /** Whether it has code and the agent no runtime. */
  needsRuntime?: boolean | undefined
  use: SkillUse
}

/** What the model is told of a skill when it activates it. */
export function activationText(activated: ActivatedSkill): string {
  const { skill, files, declarations, tag, otherLanguageFile: elsewhere, needsRuntime, use } = activated
  const { name, instructions, compatibility } = skill
  const parts = [
    instructions || "(It has no instructions.)",
    compatibility && `Compatibility: ${compatibility}`,
    declarations && `New in the session:\n\n${codeBlock(tag, declarations)}`,
    elsewhere && `What its ${elsewhere} provides is for another language and is not in this session.`,
    needsRuntime && "It also has functions, which need an agent that runs code: you do not have them.",
    files.length > 0 && `Its files, as \`${howToRead(name, use)}\` gives them:\n${fileList(files)}`,
  ]
  return taggedText("skill", parts.filter(Boolean).join("\n\n"), ` name="${name}"`)
}

function howToRead(name: string, use: SkillUse): string {
  if (use === "tool") return `activate_skill({ name: "${name}", file: "<path>" })`
  const { read, wait } = skillFunctions[use]
  return `${wait}${read}("${name}", "<path>")`
}

const maxListedFiles = 100

function fileList(files: readonly SkillFile[]): string {
  const lines = files.slice(0, maxListedFiles).map(({ path, bytes }) => `- ${oneLine(path)} (${bytes} bytes)`)
  return files.length > maxListedFiles
    ? [...lines, `- and ${files.length - maxListedFiles} more`].join("\n")
    : lines.join("\n")
}
