// The environment variables that Karst reads, for the documentation. A test compares the table with the source.

export interface Variable {
  name: string
  /** What it sets, and for whom. */
  sets: string
}

export const variables: readonly Variable[] = [
  { name: "KARST_MODEL", sets: "the model of `karst run` and of coding CLIs that are given none" },
  {
    name: "KARST_PROVIDER",
    sets: 'the coding CLIs of `codingAgent({ provider: "auto" })`, in order, separated by commas: `claude,codex`',
  },
  { name: "KARST_EFFORT", sets: "the reasoning effort of coding CLIs that are given none" },
  {
    name: "KARST_AUTOWAIT",
    sets: "`0`, `false`, `no` or `off`: coding CLIs do not wait for the reset of a usage limit",
  },
  { name: "KARST_PYTHON", sets: "the interpreter of `pythonRuntime`" },
  { name: "KARST_MCP_TOKEN", sets: "the token of `karst mcp serve --http`; default: a random one" },
]

/** Variables that Karst sets for its own child processes. */
export const internalVariables: readonly string[] = ["KARST_CHILD", "KARST_COMMAND", "KARST_HEADER_"]
