import { createLocalClient, importLlmSettings } from "karst/config"

const { models, diagnostics } = await importLlmSettings("local_settings.py")
for (const { message } of diagnostics) console.warn(message)
const config = { models, model: "moonshot/kimi-k2.5", agents: { helper: {} } }
await using client = await createLocalClient({ config })
console.log(await client.ask("Who are you?"))
