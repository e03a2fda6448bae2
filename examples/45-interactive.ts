// A coding CLI in your terminal, with your live objects: choose one with the arrow keys, work with it, leave it, and
// continue with the objects it made. Needs a terminal, an installed CLI and `npm install node-pty`.
import { jsRuntime, variable } from "karst"
import { codingAgent } from "karst/providers"

const runtime = jsRuntime({
  shopping: variable([{ item: "tea", count: 3 }], "What is to be bought"),
  note: variable("", "For the user, when you are done"),
})

try {
  const agent = codingAgent({ runtime })
  const { provider, exitCode, handle, output } = await agent.interactive("Look at `shopping` with me.", {
    selectProvider: true,
    maxCaptureBytes: 64 * 1024,
  })
  console.log(`\n${provider ?? "nobody"} ended with code ${exitCode} and showed ${output.length} characters`)
  console.log(await runtime.retrieve("shopping"), await runtime.retrieve("note"))
  if (handle !== undefined)
    console.log(`agent.session({ resume: "${handle.slice(0, 24)}…" }) goes on without a terminal`)
} catch (error) {
  console.log(error instanceof Error ? error.message : error)
}
