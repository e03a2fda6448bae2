import { loadConfig } from "karst/config"

const loaded = await loadConfig()
for (const { key, value, origin } of loaded.entries()) console.log(key, value, origin.source, origin.file, origin.line)
