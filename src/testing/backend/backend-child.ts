// A worker process of the backend suite: opens the backend with the given module, and works until it is killed.
import type { Backend } from "../../engine/backends/backend.ts"
import { backendJobHandler } from "./backend-handle.ts"

const [module = "", folder = "", maxParallel = "1"] = process.argv.slice(2)
const { open }: { open: (folder: string, workers: number) => Backend | Promise<Backend> } = await import(module)
const backend = await open(folder, 1)
await backend.start(backendJobHandler(backend, folder), { maxParallel: Number(maxParallel) })
process.on("disconnect", () => process.exit())
process.send?.("ready")
