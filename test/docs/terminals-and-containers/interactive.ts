// The program of docs/terminals-and-containers.md. It prints its result for the test.

// #region interactive
import { jsRuntime, variable } from "karst"
import { codingAgent } from "karst/providers"

const agent = codingAgent({ cwd: "./project", runtime: jsRuntime({ report: variable("") }) })
const { exitCode, output, handle } = await agent.interactive("Look at `report` with me.", { selectProvider: true })
// Continues without a person; `agent.interactive("…", { resume: handle })` continues with one.
const session = await agent.session({ resume: handle })
// #endregion

const { output: answer } = await session.send("say again")
await session.close()
await agent.runtime?.close()
process.stdout.write(
  `RESULT ${JSON.stringify({ exitCode, handle, output: answer })} showed ${output.includes("ready")}\n`,
)
