// A host program whose functions do not await the callbacks they call. It must end by itself, without an error.
import { fn } from "../../../src/runtime/bindings.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"

process.on("unhandledRejection", (error) => {
  console.error("unhandled", error)
  process.exit(1)
})
class Items {
  forEach(callback: (item: number) => unknown) {
    for (const item of [1, 2, 3]) callback(item)
  }
}
let kept: ((value: number) => unknown) | undefined
const runtime = pythonRuntime({
  tell: fn((callback: (value: number) => unknown) => {
    callback(1)
  }),
  items: new Items(),
  keep: (callback: (value: number) => unknown) => {
    kept = callback
  },
})
for (const code of ["tell(lambda x: 1 / 0)", "items.forEach(lambda x: 1 / 0)"]) {
  const execution = await runtime.execute(code)
  console.log(execution.ok ? "ran" : `${execution.error.kind} ${execution.error.message}`)
}
await runtime.execute("import time\nkeep(lambda x: time.sleep(0.2) or 1 / 0)")
// The host does not await this callback, and the runtime is closed before it answers.
for (let turn = 0; turn < 3; turn++) kept?.(turn)
await runtime.close()
kept?.(4)
process.once("beforeExit", () => console.log("closed"))
