import { createLocalClient } from "karst/config"

await using client = await createLocalClient({ config: "karst.config.ts", only: ["analyst"], approver: "events" })
console.log(await client.ask("Say it in one line.", { agent: { instructions: "Be brief.", model: "fast" } }))
