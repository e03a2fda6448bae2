// Coding CLIs as agents. Names are listed one by one.

export { claude } from "./providers/claude.ts"
export type { CliAgent, CliRunOptions, CliSession, CliSessionOptions } from "./providers/cli-agent.ts"
export { type CodexOptions, codex } from "./providers/codex.ts"
export { gemini } from "./providers/gemini.ts"
export type { Logger } from "./providers/logger.ts"
export { type OpencodeOptions, opencode } from "./providers/opencode.ts"
export type { CliOptions } from "./providers/options.ts"
export type { Tier, ToolGroup } from "./providers/provider.ts"
