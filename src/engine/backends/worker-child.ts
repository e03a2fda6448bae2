// Entry file of a worker process: imports the module named in argv and runs jobs with its exported engine.
import { ConfigError, errorData } from "../../core/errors.ts"
import { joinPool, sendToPool } from "./worker-link.ts"

interface WorkerEngine {
  work(options: { maxParallel: number }): unknown
  drain?(): unknown
  close?(): unknown
}

const [module = "", maxParallel = "1"] = process.argv.slice(2)
let engine: WorkerEngine | undefined

const pool = joinPool({
  drain: () => engine?.drain?.(),
  async end() {
    try {
      await engine?.close?.()
    } finally {
      process.exit(0)
    }
  },
})

try {
  const exported: { engine?: unknown } = await import(module)
  engine = checkEngine(exported.engine)
  await engine.work({ maxParallel: Number(maxParallel) })
  if (!pool.hasStarted()) throw new ConfigError("its engine has another backend. Make it with the workerBackend.")
} catch (error) {
  // The pool puts `A worker cannot work with "<module>":` before the message.
  sendToPool({ type: "start-failed", error: errorData(error) })
}

function checkEngine(engine: unknown): WorkerEngine {
  if (typeof engine === "object" && engine && "work" in engine && typeof engine.work === "function") {
    return engine as WorkerEngine
  }
  throw new ConfigError("it has no export `engine` that can work. Write: export const engine = createEngine(…)")
}
