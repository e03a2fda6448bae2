// server.ts
import { engine } from "./engine.ts"

await engine.work({ maxParallel: 2 }) // starts 4 processes with up to 2 runs each
const { id } = await engine.submit("analyst", "Which month was best?")
console.log((await engine.result(id)).output)
