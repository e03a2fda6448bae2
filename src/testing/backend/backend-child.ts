// Another process of a test of backends: starts the backend that the module opens, and works until it is killed.
import type { Backend } from "../../engine/backends/backend.ts"
import { backendHandle } from "./backend-handle.ts"

const [module = "", folder = "", concurrency = "1"] = process.argv.slice(2)
const { open }: { open: (folder: string, workers: number) => Backend | Promise<Backend> } = await import(module)
const backend = await open(folder, 1)
await backend.start(backendHandle(backend, folder), { concurrency: Number(concurrency) })
process.on("disconnect", () => process.exit())
process.send?.("ready")
