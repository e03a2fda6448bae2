import { resolveModel, rotateModels, withRetry } from "karst/models"

const mirror = "openai-compatible:https://mirror.example/v1#gpt-5.2"
export const model = withRetry(
  rotateModels([
    await resolveModel("openai/gpt-5.2", { apiKey: process.env.OPENAI_KEY_1, retry: false }),
    await resolveModel("openai/gpt-5.2", { apiKey: process.env.OPENAI_KEY_2, retry: false }),
    await resolveModel(mirror, { apiKey: process.env.MIRROR_KEY, retry: false }),
  ]),
)
