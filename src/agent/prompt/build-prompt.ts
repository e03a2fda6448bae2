// Builds the system prompt of an agent for a runtime.
import { createHash } from "node:crypto"
import type { Runtime } from "../../runtime/runtime.ts"
import type { AgentConfig } from "../agent-config.ts"
import type { AgentSkills } from "../agent-skills.ts"
import { systemPrompt } from "./system-prompt.ts"
import type { WorkspaceFacts } from "./workspace-section.ts"

/** Returns exactly the prompt that the model sees. `withFiles: false` leaves out what is in the workspace now: then the
 *  same definition of an agent always has the same prompt. */
export async function buildPrompt(config: AgentConfig, runtime: Runtime, { withFiles = true } = {}): Promise<string> {
  const { language, access } = runtime
  const skills = (await openAgentSkills(config, runtime))?.offered
  const declarations = config.usesCode ? await runtime.describe() : ""
  const files = withFiles ? await workspaceFacts(config) : undefined
  const context = { ...config, skills, language, access, tag: config.fenceTag(language), declarations, files }
  return systemPrompt(context, config.prompt)
}

async function workspaceFacts({ usesTools, workspace }: AgentConfig): Promise<WorkspaceFacts | undefined> {
  if (!usesTools || !workspace) return undefined
  const { lookAtWorkspace } = await import("./workspace-facts.ts")
  return lookAtWorkspace(workspace)
}

export function hashPrompt(prompt: string): string {
  return createHash("sha256").update(prompt).digest("base64url").slice(0, 22)
}

/** Loads the skills of an agent once; undefined if it has none. */
export async function openAgentSkills(
  { skills, usesCode }: AgentConfig,
  runtime: Runtime,
): Promise<AgentSkills | undefined> {
  if (!skills) return undefined
  const { openSkills } = await import("../agent-skills.ts")
  return openSkills(skills, usesCode ? runtime : undefined)
}
