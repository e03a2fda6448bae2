// Records the sessions that the tests of the project templates replay: `node scripts/bootstrap.mjs
// scripts/record-templates.ts`. Needed only if a template or the format of recordings changes.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CodeAgent } from "../src/agent/create-agent.ts"
import { clerk } from "../templates/objects/src/clerk.ts"
import { support } from "../templates/tools/src/support.ts"
import { root } from "./tools.ts"

await record(clerk, "objects/test/recordings/overdue", "Remind customers who are late")
await record(support, "tools/test/recordings/order-7", "What is in order 7?")

async function record(agent: CodeAgent, to: string, prompt: string): Promise<void> {
  const archive = mkdtempSync(join(tmpdir(), "karst-"))
  const session = await agent.session({ archive })
  await session.send(prompt)
  await session.close()
  const folder = join(root, "templates", to)
  mkdirSync(folder, { recursive: true })
  // The record of the session is left out: it names the machine, and a replay does not need it.
  for (const log of ["events.jsonl", "recording.jsonl"])
    writeFileSync(join(folder, log), readFileSync(join(session.directory ?? "", log)))
  rmSync(archive, { recursive: true })
}
