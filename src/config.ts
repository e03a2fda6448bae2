// karst/config: configuration files, agents by name, and a client that runs them.

export { type AgentInfo, type LoadAgentsOptions, type LoadedAgents, loadAgents } from "./config/agents/load-agents.ts"
export type { ConfigEntry, ShownValue } from "./config/config-entries.ts"
export {
  type AgentDefinition,
  type Config,
  defineConfig,
  type EndpointDefinition,
  type ModelDefinition,
} from "./config/define-config.ts"
export type { Diagnostic } from "./config/diagnostics.ts"
export { type ImportedSettings, importLlmSettings } from "./config/llm-settings.ts"
export {
  type ConfigFile,
  type LoadConfigOptions,
  type LoadedConfig,
  loadConfig,
  type ResourceFolder,
} from "./config/load-config.ts"
export {
  type AgentChoice,
  type ClientRunOptions,
  type ClientSessionOptions,
  createLocalClient,
  type LocalClient,
  type LocalClientOptions,
} from "./config/local-client.ts"
export type { ConfigSource, Origin } from "./config/merge-config.ts"
export { type ConfirmTrust, type TrustQuestion, trustConfig } from "./config/trust.ts"
