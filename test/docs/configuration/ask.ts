import { createLocalClient } from "karst/config"

await using client = await createLocalClient({ config: "karst.config.ts" })
console.log(await client.ask("What is the median of 3, 9 and 4?"))
console.log(await client.ask("What did we decide?", { agent: "reader" }))
