// Reduces settings of coding CLIs to what a container needs: how to sign in, which model, and one trusted folder.
// Hooks, MCP servers, histories and projects of the host stay out.
import { attempt } from "../../core/attempt.ts"
import type { Json } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"

/** Returns the reduced text of a file, by its path in the container. Undefined if it cannot be parsed, or if the file
 *  is one that is never reduced. */
export function reduceSettings(target: string, text: string, workdir: string): string | undefined {
  switch (target) {
    case ".claude.json":
      return reduceJson(text, ["hasCompletedOnboarding", "oauthAccount", "userID", "theme"], {
        projects: { [workdir]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      })
    case ".claude/settings.json":
      return reduceJson(text, ["model"], { env: variablesIn(text, /^(ANTHROPIC|CLAUDE_CODE_USE|AWS|CLOUD_ML)_/) })
    case ".codex/config.toml":
      return reduceCodexConfig(text, workdir)
    case ".gemini/settings.json":
      return reduceJson(text, ["selectedAuthType", "security", "model"], {})
    case ".gemini/.env":
      return text
        .split("\n")
        .filter((line) => /^[ \t]*(GEMINI|GOOGLE)_\w+[ \t]*=/.test(line))
        .concat("")
        .join("\n")
    default:
      return target.startsWith(".config/opencode/")
        ? reduceJson(text, ["$schema", "provider", "model", "small_model"], {})
        : undefined
  }
}

function reduceJson(text: string, names: readonly string[], more: { [name: string]: Json }): string | undefined {
  const settings: unknown = attempt(() => JSON.parse(text))
  if (!isRecord(settings)) return undefined
  const kept = Object.fromEntries(Object.entries(settings).filter(([name]) => names.includes(name)))
  return `${JSON.stringify({ ...kept, ...more }, undefined, 2)}\n`
}

function variablesIn(text: string, pattern: RegExp): { [name: string]: Json } {
  const settings: unknown = attempt(() => JSON.parse(text))
  const env = isRecord(settings) && isRecord(settings.env) ? settings.env : {}
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      pattern.test(name) && typeof value === "string" ? [[name, value]] : [],
    ),
  )
}

// Keeps single lines at the top and whole sections, by name; what stands in a multi-line text is left out.
function reduceCodexConfig(text: string, workdir: string): string {
  const kept: string[] = []
  let section = ""
  let quote: string | undefined
  for (const line of text.split("\n")) {
    const wasQuoted = quote !== undefined
    quote = openQuoteAfter(line, quote)
    if (wasQuoted || quote !== undefined) continue
    const header = /^\s*\[\[?\s*([\w-]+)/.exec(line)?.[1]
    section = header ?? section
    const name = /^\s*([\w-]+)\s*=/.exec(line)?.[1] ?? ""
    if (section === "" ? codexSettings.includes(name) : codexSections.includes(section)) kept.push(line.trimEnd())
  }
  return `${[...kept.filter(Boolean), "", `[projects.${JSON.stringify(workdir)}]`, 'trust_level = "trusted"'].join("\n")}\n`
}

const codexSettings = [
  ...["model", "model_provider", "model_reasoning_effort", "profile", "preferred_auth_method", "forced_login_method"],
  ...["openai_base_url", "chatgpt_base_url"],
]
const codexSections = ["model_providers", "profiles"]

function openQuoteAfter(line: string, open: string | undefined): string | undefined {
  for (const [quote] of line.matchAll(/"""|'''/g)) {
    if (open === undefined) open = quote
    else if (open === quote) open = undefined
  }
  return open
}
