// The fixed texts that the model sees in the system prompt and in messages of the host, in each language of prompts.
import { english } from "./prompt-texts/en.ts"
import { chinese } from "./prompt-texts/zh.ts"

/** The language of the texts that Karst writes for the model. */
export type PromptLanguage = "en" | "zh"

export const promptLanguages: readonly PromptLanguage[] = ["en", "zh"]

export function textsIn(language: PromptLanguage = "en"): PromptTexts {
  return language === "zh" ? chinese : english
}

type CellLanguage = "typescript" | "python"

/** One table for each language. A function takes the parts of a text that differ. */
export interface PromptTexts {
  // The system prompt.
  codeInstructions: string
  toolInstructions: string
  /** Follows the instructions of agents whose cells are confined. */
  cellsConfined(hasTools: boolean): string
  filesByTools: string
  howYouWork: string
  oneBlock(tag: string, language: CellLanguage): string
  sharedSession: string
  topLevelAwait(typesBlock: boolean): string
  objectsByName: string
  remoteObjects(language: CellLanguage): string
  compute: string
  changesAreReal: string
  changesRollBack: string
  outputIsCut(maxChars: string, language: CellLanguage): string
  cellTimeLimit(seconds: number): string
  howToEnd: string
  callTools: string
  severalCalls: string
  failedCalls: string
  endWithAnswer: string
  endWithFinish: string
  endOrWait: string
  sessionContents: string
  nothingYet(language: CellLanguage): string
  inferredTypes: string
  /** With tables of which every row was read. */
  inferredRows: string
  workspace: string
  workspacePlace(folder: string | undefined, branch: string | undefined, changed: number | undefined): string
  workspaceEmpty(place: string): string
  workspaceContents(place: string, entries: readonly string[], more: number | undefined): string
  skills: string
  activateByTool: string
  activateInCell(call: string): string
  noImports: string
  importsOnly(names: readonly string[], more: number): string
  imports(from: readonly string[], refused: string): string
  installedPackages: string
  nodeModules: string
  someNodeModules(names: readonly string[]): string
  anyPackage: string
  noNetwork: string
  fetchRefused: string
  fetchWorks: string
  fetchFails: string
  // What a skill says when it is activated, besides its own text.
  skillActive(name: string): string
  skillFollows(name: string, afterCell: boolean): string
  noSkillInstructions: string
  skillCompatibility(text: string): string
  skillOtherLanguage(file: string, written: string, own: string, other: string): string
  skillNeedsRuntime: string
  skillFiles(call: string): string
  // Messages of the host.
  currentTime(weekday: number, time: string, zone: string): string
  newNames: string
  assignOutputs: string
  outputsMissing: string
  openTodos(list: string): string
  noToolCalled: string
  finishedWithFailure: string
  finishedBeforeCode: string
  emptyAnswer: string
  interruptedHere: string
  outputLimit: string
  outputLimitBeforeAnswer: string
  connectionDropped: string
  // Answers whose code was not run.
  otherLanguage(own: string, other: string, tag: string): string
  untaggedCode(tag: string): string
  otherProgram(written: string, own: string, tag: string): string
  quotedCode(tag: string): string
  emptyBlock(tag: string): string
  callAsText(tag: string): string
  unknownMarkup(name: string, tag: string): string
  blockNeverClosed(tag: string): string
  onlyThoughts(tag: string): string
}
