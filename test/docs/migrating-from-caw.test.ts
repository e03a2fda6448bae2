// test lane: clis, long
// The program of docs/migrating-from-caw.md that is Karst's, run as it is shown there.
import assert from "node:assert/strict"
import { mkdir } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { test } from "node:test"
// #region program
import { codingAgent } from "karst/providers"
// #endregion
import { fakeCliMachine } from "../providers/cli-machines.ts"
import { setVariables, workIn } from "./surroundings.ts"

test("docs/migrating-from-caw.md shows the same program in Karst, and a handle to resume it", async (t) => {
  await workIn(t)
  await mkdir("project")
  await using machine = await fakeCliMachine()
  const PATH = [join(machine.folder, "bin"), "/usr/bin", "/bin"].join(delimiter)
  setVariables(t, { PATH, HOME: machine.folder, CODEX_HOME: undefined, KARST_PROVIDER: undefined })
  // #region program
  const agent = codingAgent({
    provider: ["claude", "codex"],
    model: "strongest",
    allow: ["read", "write"],
    cwd: "./project",
  })
  await using session = await agent.session({ archive: ".karst" })
  const { output } = await session.send("Make the failing test pass.")
  const handle = session.handle
  // #endregion
  assert.ok(output !== undefined)
  const [start] = await machine.starts("claude")
  assert.match(start ?? "", /--model opus/)
  assert.match(start ?? "", /--tools \S*Read\S*Write/)
  await session.close()
  await using resumed = await agent.session({ resume: handle, archive: ".karst" })
  await resumed.send("say again")
  assert.equal((await machine.heard("claude"))[0]?.length, 2)
})
