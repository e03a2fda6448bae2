// The table of OpenAI-compatible services and known AI SDK packages, with their environment variables.

/** A service with the OpenAI chat protocol. */
export interface CompatibleService {
  baseURL: string
  /** Environment variables for the API key, in order of preference. Empty for a server on this machine. */
  keys: readonly string[]
  /** False if requesting usage is an error. Such services report usage anyway. */
  includeUsage?: false
}

/** Services by the name before the slash in `groq/llama-3.3-70b-versatile`. A name in this table always means this
 *  entry, whatever packages are installed, so that an id means the same on every machine. */
export const compatibleServices: Readonly<Record<string, CompatibleService>> = {
  ollama: { baseURL: "http://127.0.0.1:11434/v1", keys: [] },
  lmstudio: { baseURL: "http://127.0.0.1:1234/v1", keys: [] },
  llamacpp: { baseURL: "http://127.0.0.1:8080/v1", keys: [] },
  vllm: { baseURL: "http://127.0.0.1:8000/v1", keys: [] },
  baseten: { baseURL: "https://inference.baseten.co/v1", keys: ["BASETEN_API_KEY"] },
  cerebras: { baseURL: "https://api.cerebras.ai/v1", keys: ["CEREBRAS_API_KEY"] },
  dashscope: { baseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1", keys: ["DASHSCOPE_API_KEY"] },
  deepinfra: { baseURL: "https://api.deepinfra.com/v1/openai", keys: ["DEEPINFRA_API_KEY", "DEEPINFRA_TOKEN"] },
  deepseek: { baseURL: "https://api.deepseek.com", keys: ["DEEPSEEK_API_KEY"] },
  fireworks: { baseURL: "https://api.fireworks.ai/inference/v1", keys: ["FIREWORKS_API_KEY"] },
  gateway: { baseURL: "https://ai-gateway.vercel.sh/v1", keys: ["AI_GATEWAY_API_KEY"] },
  github: { baseURL: "https://models.github.ai/inference", keys: ["GITHUB_TOKEN"] },
  groq: { baseURL: "https://api.groq.com/openai/v1", keys: ["GROQ_API_KEY"] },
  huggingface: { baseURL: "https://router.huggingface.co/v1", keys: ["HF_TOKEN"] },
  minimax: { baseURL: "https://api.minimax.io/v1", keys: ["MINIMAX_API_KEY"] },
  mistral: { baseURL: "https://api.mistral.ai/v1", keys: ["MISTRAL_API_KEY"], includeUsage: false },
  moonshot: { baseURL: "https://api.moonshot.ai/v1", keys: ["MOONSHOT_API_KEY"] },
  nebius: { baseURL: "https://api.tokenfactory.nebius.com/v1", keys: ["NEBIUS_API_KEY"] },
  novita: { baseURL: "https://api.novita.ai/openai/v1", keys: ["NOVITA_API_KEY"] },
  nvidia: { baseURL: "https://integrate.api.nvidia.com/v1", keys: ["NVIDIA_API_KEY"] },
  openrouter: { baseURL: "https://openrouter.ai/api/v1", keys: ["OPENROUTER_API_KEY"] },
  perplexity: { baseURL: "https://api.perplexity.ai", keys: ["PERPLEXITY_API_KEY"] },
  qwen: { baseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", keys: ["DASHSCOPE_API_KEY"] },
  sambanova: { baseURL: "https://api.sambanova.ai/v1", keys: ["SAMBANOVA_API_KEY"] },
  siliconflow: { baseURL: "https://api.siliconflow.com/v1", keys: ["SILICONFLOW_API_KEY"] },
  together: { baseURL: "https://api.together.xyz/v1", keys: ["TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"] },
  xai: { baseURL: "https://api.x.ai/v1", keys: ["XAI_API_KEY"] },
  zai: { baseURL: "https://api.z.ai/api/paas/v4", keys: ["ZAI_API_KEY", "ZHIPU_API_KEY"] },
  zhipu: { baseURL: "https://open.bigmodel.cn/api/paas/v4", keys: ["ZHIPU_API_KEY"] },
}

/** Known AI SDK packages, for their API keys and for suggestions. Any other `@ai-sdk/…` package works too. */
export const providerPackages: Readonly<Record<string, readonly string[]>> = {
  openai: ["OPENAI_API_KEY"],
  anthropic: ["ANTHROPIC_API_KEY"],
  google: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
  // These packages find their credentials themselves.
  "amazon-bedrock": [],
  azure: [],
  cohere: [],
  "google-vertex": [],
}
