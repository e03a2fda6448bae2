// The program of docs/cli.md with an agent. With the argument `fail`, its model fails.

// #region display
import { display } from "karst/display"
// #endregion

import { createAgent, ModelError } from "karst"
import { scriptedModel } from "karst/models"

const failure = new ModelError("The service is gone.", { code: "server-error" })
const agent = createAgent({ model: scriptedModel([process.argv[2] === "fail" ? failure : "It has 3 rows."]) })
// #region display
const result = await display(agent.run("Analyse df"), { mode: "short" })
// #endregion
console.log(`status: ${result.status}`)
