// Sorts the tags of code blocks: which language a block is in, and whether it can be code to run.
import type { PromptLanguage } from "../../core/prompt-texts.ts"

export type Language = "typescript" | "python"

/** How a CodeAgent's model marks code to run. */
export interface CodeSyntax {
  language: Language
  /** The tag that the model is asked to use. */
  fence: string
  /** Whether no other tag marks code to run. */
  onlyFence: boolean
  /** The language of the messages about code that was not run. Default "en". */
  promptLanguage?: PromptLanguage | undefined
}

/** - `run`: code of this session.
 *  - `alias`: a tag of the session's language that does not mark code to run, because the agent has a tag of its own.
 *    It is treated like `program`, except that it may be the whole answer.
 *  - `other`: the language of the other kind of session.
 *  - `program`: shell commands, SQL and other languages.
 *  - `call`: a tool call as text.
 *  - `data`: JSON, text, Markdown and other content that is never run.
 *  - `unknown`: no tag, or one that says nothing. */
export type TagKind = "run" | "alias" | "other" | "program" | "call" | "data" | "unknown"

/** The tags of each language. The first is the one that the model is asked to use. */
export const languageTags: Record<Language, readonly string[]> = {
  typescript: "ts typescript js javascript mjs cjs mts cts tsx jsx node nodejs".split(" "),
  python: "python py python3 py3 ipython ipython3 tool_code".split(" "),
}

export const languageNames: Record<Language, string> = { typescript: "TypeScript", python: "Python" }

export function otherLanguage(language: Language): Language {
  return language === "python" ? "typescript" : "python"
}

export function kindOfTag(written: string, { language, fence, onlyFence }: CodeSyntax): TagKind {
  if (written.toLowerCase() === fence.toLowerCase()) return "run"
  const tag = normalTag(written)
  if (languageTags[language].includes(tag)) return onlyFence ? "alias" : "run"
  if (languageTags[otherLanguage(language)].includes(tag)) return "other"
  if (callTags.has(tag)) return "call"
  if (programTags.has(tag)) return "program"
  return dataTags.has(tag) ? "data" : "unknown"
}

// Returns the name in a tag: `ts` for `TS`, `ts:src/a.ts` and `{.ts}`.
function normalTag(tag: string): string {
  const [name = ""] = tag.replace(/^[{.]+/, "").split(/[{}:,;]/, 1)
  return name.toLowerCase()
}

const callTags = new Set("tool-call tool_call tool_calls toolcall tool_use tool function_call function-call".split(" "))

const programTags = new Set(
  (
    "bash sh zsh shell fish ksh powershell pwsh ps1 bat cmd sql sqlite mysql postgres postgresql duckdb pycon r julia " +
    "ruby rb go golang rust rs java kotlin scala swift c cpp c++ cs csharp php perl lua haskell matlab elixir dart"
  ).split(" "),
)

const dataTags = new Set(
  (
    "json jsonc json5 jsonl ndjson yaml yml toml ini env dotenv properties conf xml html css scss svg csv tsv " +
    "text txt plain plaintext none output out stdout stderr console terminal log md markdown mdx rst diff patch " +
    "mermaid dot graphviz latex tex math http url regex regexp ascii table tree dockerfile docker makefile nginx " +
    "graphql proto gitignore email"
  ).split(" "),
)
