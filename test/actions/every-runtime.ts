// Runs the same cells in every runtime.
import { scriptedModel } from "../../src/models/scripted.ts"
import type { Bindings } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { processRuntime } from "../../src/runtime/process.ts"
import { pythonRuntime } from "../../src/runtime/python.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { requires } from "../system.ts"

export interface Code {
  typescript: string
  python: string
}

export const runtimes: { name: string; skip: string | undefined; open: (bindings: Bindings) => Runtime }[] = [
  { name: "jsRuntime", skip: undefined, open: (bindings) => jsRuntime(bindings) },
  { name: "processRuntime", skip: undefined, open: (bindings) => processRuntime(bindings) },
  { name: "pythonRuntime", skip: requires("python"), open: (bindings) => pythonRuntime(bindings) },
]

/** A model that runs these cells one after the other and then answers. */
export function modelRunningCells(runtime: Runtime, ...cells: Code[]) {
  const { language } = runtime
  const fence = language === "python" ? "python" : "ts"
  return scriptedModel([...cells.map((code) => `\`\`\`${fence}\n${code[language]}\n\`\`\`\n`), "ok"])
}

/** The result of the last cell as the model saw it. */
export function lastResultText(model: ReturnType<typeof modelRunningCells>, request = 1): string {
  return JSON.stringify(model.requests[request]?.messages.at(-1))
}
