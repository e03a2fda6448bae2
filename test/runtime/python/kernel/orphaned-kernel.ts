// A host program that prints the process id and the folder of its kernel, and waits to be killed.
import { pythonRuntime } from "../../../../src/runtime/python.ts"

const runtime = pythonRuntime({ tell: (pid: number, folder: string) => console.log(`${pid} ${folder}`) })
await runtime.execute("import os\ntell(os.getpid(), os.path.dirname(os.getcwd()))")
await runtime.execute(process.argv[2] ?? "1")
setInterval(() => undefined, 1000)
