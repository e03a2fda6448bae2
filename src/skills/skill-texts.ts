// The texts about skills that the model sees.
import { type PromptLanguage, type PromptTexts, textsIn } from "../core/prompt-texts.ts"
import { codeBlock, listFirst, oneLine, taggedText } from "../core/text/tagged-text.ts"
import type { Skill } from "../skills.ts"
import type { SkillFile } from "./skill-files.ts"
import { skillFunctions } from "./skill-functions.ts"

export type SkillUse = "typescript" | "python" | "tool"

export function skillsSection(
  skills: readonly Pick<Skill, "name" | "description">[],
  use: SkillUse,
  language?: PromptLanguage,
): string {
  const texts = textsIn(language)
  const list = skills.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, " ")}`)
  return `${texts.skills}\n\n${howToActivate(use, texts)}\n\n${list.join("\n")}`
}

function howToActivate(use: SkillUse, texts: PromptTexts): string {
  if (use === "tool") return texts.activateByTool
  const { activate, wait } = skillFunctions[use]
  return texts.activateInCell(`${wait}${activate}("<name>")`)
}

export interface ActivatedSkill {
  skill: Skill
  files: readonly SkillFile[]
  /** The declarations of the injected names, and the fence tag to show them with. */
  declarations: string
  tag: string
  otherLanguageFile: string | undefined
  /** Whether the skill has code but the agent has no runtime. */
  needsRuntime?: boolean | undefined
  use: SkillUse
  promptLanguage?: PromptLanguage | undefined
}

/** The text that the model gets when it activates a skill. */
export function activationText(activated: ActivatedSkill): string {
  const { skill, files, declarations, tag, otherLanguageFile: elsewhere, needsRuntime, use, promptLanguage } = activated
  const { name, instructions, compatibility } = skill
  const texts = textsIn(promptLanguage)
  const parts = [
    instructions || texts.noSkillInstructions,
    compatibility && texts.skillCompatibility(compatibility),
    declarations && `${texts.newNames}\n\n${codeBlock(tag, declarations)}`,
    elsewhere && otherLanguageText(elsewhere, use, texts),
    needsRuntime && texts.skillNeedsRuntime,
    files.length > 0 && `${texts.skillFiles(howToRead(name, use))}\n${fileList(files)}`,
  ]
  return taggedText("skill", parts.filter(Boolean).join("\n\n"), ` name="${name}"`)
}

/** Says that the functions of a skill are missing, because the session runs another language than they are written
 *  in. */
function otherLanguageText(file: string, use: SkillUse, texts: PromptTexts): string {
  const [own, other] = use === "python" ? ["Python", "TypeScript"] : ["TypeScript", "Python"]
  return texts.skillOtherLanguage(file, file.endsWith(".py") ? "Python" : "JavaScript", own, other)
}

function howToRead(name: string, use: SkillUse): string {
  if (use === "tool") return `activate_skill({ name: "${name}", file: "<path>" })`
  const { read, wait } = skillFunctions[use]
  return `${wait}${read}("${name}", "<path>")`
}

const maxListedFiles = 100

function fileList(files: readonly SkillFile[]): string {
  return listFirst(files, maxListedFiles, ({ path, sizeBytes }) => `${oneLine(path)} (${sizeBytes} bytes)`, "- ").join(
    "\n",
  )
}
