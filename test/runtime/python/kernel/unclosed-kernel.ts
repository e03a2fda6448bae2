// A program that never closes its kernel.
import { pythonRuntime } from "../../../../src/runtime/python.ts"

const runtime = pythonRuntime({}, { isolation: process.argv[2] === "os" ? "os" : "process" })
const execution = await runtime.execute(
  "import os, subprocess\nsubprocess.Popen(['sleep', '600'])\nos.path.dirname(os.getcwd())",
)
console.log(execution.ok ? execution.value : execution.error.message)
