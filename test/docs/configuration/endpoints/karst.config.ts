import { defineConfig } from "karst/config"

export default defineConfig({
  models: {
    kimi: {
      id: "moonshot/kimi-k3",
      contextWindow: 262_144,
      price: { input: 0.6, output: 2.5 },
      endpoints: [
        { apiKey: "${MOONSHOT_KEY_1}" },
        { apiKey: "${MOONSHOT_KEY_2}" },
        { id: "openai-compatible:https://llm.example.com/v1#kimi-k3", apiKey: "${OWN_KEY}" },
      ],
    },
  },
})
