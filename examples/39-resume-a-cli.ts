// A session with a coding CLI, stored in an archive. Its handle is a string with which any process can resume it, even
// without the archive, because the CLI stores its own conversation.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { claude } from "karst/providers"
import { listSessions } from "karst/sessions"

const archive = await mkdtemp(join(tmpdir(), "karst-"))
const agent = claude({ allow: [] })

async function today(): Promise<string> {
  await using session = await agent.session({ archive })
  const { output, error } = await session.send("My name is Ada. Say hello.").settled
  console.log(error?.message ?? output)
  return session.handle
}

async function tomorrow(handle: string): Promise<void> {
  await using session = await agent.session({ resume: handle })
  const { output, error } = await session.send("What is my name?").settled
  console.log(error?.message ?? output)
  console.log(`${session.messages().length} messages, ${session.trajectory().runs.length} runs`)
}

await tomorrow(await today())
for (const { title, agent: by, runs, status } of await listSessions(archive)) console.log({ title, by, runs, status })

await rm(archive, { recursive: true })
