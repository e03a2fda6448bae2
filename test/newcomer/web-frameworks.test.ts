// test lane: newcomer, long
import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { after, before, describe, test } from "node:test"
import type { BrowserEvent } from "karst/server"
import { installInto } from "../../scripts/pack.ts"
import { eventsOf, framesOf, textOf } from "../server/loopback.ts"
import { until } from "../waiting.ts"
import { packedPackage, userEnvironment } from "./packed-package.ts"

const frameworks = ["hono@4.13.17", "@hono/node-server@2.1.6", "express@5.3.0"]

/** What the snippets of the page take for granted, and a second server that steers the test. */
const beforeSnippets = `
import { createServer } from "node:http"
import { createAgent, fn, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { createSessions } from "./sessions.ts"

const state = { wiped: [] as string[], ended: [] as string[] }
let gate = Promise.withResolvers<void>()
const cell = (code: string) => "\`\`\`ts\\n" + code + "\\n\`\`\`\\n"
const agent = createAgent({
  model: scriptedModel(({ messages }) => {
    const last = JSON.stringify(messages.at(-1))
    if (last.includes("Please wipe")) return cell("await wipe('disk 1')")
    if (last.includes("Please wait")) return cell("await wait()")
    if (last.includes("Please fail")) throw new Error("secret: the model is down")
    return "All done."
  }),
  runtime: () => jsRuntime({
    wipe: fn((name: string) => void state.wiped.push(name), { approve: true }),
    wait: () => gate.promise,
  }),
  // The sessions have an observer of their own, which replaces onEvent of the agent.
  hooks: { onEvent: (event) => { if (event.type === "run-end") state.ended.push(event.status) } },
})
const sessions = createSessions(agent, ".karst")
const control = createServer((req, res) => {
  if (req.url === "/release") {
    gate.resolve()
    gate = Promise.withResolvers()
  }
  res.end(JSON.stringify(state))
})
await new Promise<void>((done) => control.listen(0, "127.0.0.1", done))
const ready = (app: number) => console.log(JSON.stringify({ app, control: (control.address() as { port: number }).port }))
`

const serveFetch = (fetch: string) => `
import { serve } from "@hono/node-server"
serve({ fetch: ${fetch}, port: 0, hostname: "127.0.0.1" }, ({ port }) => ready(port))
`

const untilTerminated = `
process.once("SIGTERM", async () => {
  await sessions.closeAll()
  process.exit()
})
`

/** The endpoint for approvals of the page, which is written for Hono, in the words of the other frameworks. */
const approveInExpress = `
app.post("/approvals/:id", express.text(), async (req, res) => {
  const { running } = await sessions.of(req.get("x-user") ?? "guest")
  try {
    running?.approve(req.params.id, req.body === "allow" ? "allow" : "deny")
    res.status(204).end()
  } catch {
    res.status(409).end()
  }
})
const server = app.listen(0, "127.0.0.1", () => ready((server.address() as { port: number }).port))
`
const approveInNext = `
// app/approvals/[id]/route.ts
async function approve(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  const { running } = await sessions.of(request.headers.get("x-user") ?? "guest")
  try {
    running?.approve((await params).id, (await request.text()) === "allow" ? "allow" : "deny")
    return new Response(null, { status: 204 })
  } catch {
    return new Response(null, { status: 409 })
  }
}
const route = (request: Request) => {
  const [, id] = /\\/approvals\\/(.*)$/.exec(new URL(request.url).pathname) ?? []
  return id === undefined ? POST(request) : approve(request, { params: Promise.resolve({ id }) })
}
`

describe("the web service of the documentation", () => {
  let folder: string
  const children: ChildProcess[] = []

  before(
    async () => {
      folder = await mkdtemp(join(tmpdir(), "karst-web-"))
      await installInto(folder, [await packedPackage(), ...frameworks])
      for (const file of ["app.ts", "sessions.ts"])
        await copyFile(join(folder, "node_modules/karst/examples/chat-service", file), join(folder, file))
    },
    { timeout: 600_000 },
  )
  after(async () => {
    for (const child of children) child.kill("SIGKILL")
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  const programs: Record<string, () => Promise<string>> = {
    Hono: async () => `import { createApp } from "./app.ts"\n${serveFetch("createApp(sessions).fetch")}`,
    Express: async () => (await snippet('from "express"')) + approveInExpress,
    Next: async () => (await snippet("export async function POST")) + approveInNext + serveFetch("route"),
  }

  for (const [name, program] of Object.entries(programs)) {
    describe(`in ${name}`, () => {
      let service: Service
      before(async () => {
        const file = join(folder, `${name}.ts`)
        await writeFile(file, beforeSnippets + (await program()) + untilTerminated)
        service = await startService(file)
      })

      test("streams what happens while the run goes on", async () => {
        const response = await service.post("ada", "/chat", "Please wait")
        assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8")
        const events: BrowserEvent[] = []
        for await (const { event } of framesOf(response.body)) {
          if (event) events.push(event)
          // The cell waits for this, so all before it has arrived during the run.
          if (event?.type === "message-end" && events.length < 8) await service.release()
        }
        assert.equal(textOf(events), "All done.")
        assert.deepEqual(ended(events), "done")
      })

      test("a disconnect does not abort the run, and the session goes on", async () => {
        const left = new AbortController()
        const response = await service.post("bob", "/chat", "Please wait", left.signal)
        for await (const { event } of framesOf(response.body)) if (event?.type === "code-start") break
        const before = (await service.state()).ended.length
        left.abort()
        await service.release()
        await until(async () => (await service.state()).ended.length > before)
        assert.equal((await service.state()).ended.at(-1), "done")
        assert.equal(textOf(await eventsOf(await service.post("bob", "/chat", "Hello"))), "All done.")
      })

      test("a second request answers the approval that the first one waits for", async () => {
        const response = await service.post("cleo", "/chat", "Please wipe")
        const events: BrowserEvent[] = []
        for await (const { event } of framesOf(response.body)) {
          if (event) events.push(event)
          if (event?.type !== "approval-requested") continue
          assert.deepEqual((await service.state()).wiped, [])
          assert.equal((await service.post("cleo", "/approvals/other", "allow")).status, 409)
          assert.deepEqual((await service.state()).wiped, [])
          assert.equal((await service.post("cleo", `/approvals/${event.id}`, "allow")).status, 204)
        }
        assert.deepEqual((await service.state()).wiped, ["disk 1"])
        assert.equal(ended(events), "done")
      })

      test("a failed run ends the stream without the details, and the next prompt is answered", async () => {
        const events = await eventsOf(await service.post("dan", "/chat", "Please fail"))
        assert.equal(ended(events), "failed")
        assert.doesNotMatch(JSON.stringify(events), /secret/)
        // The body is the prompt, whatever the client calls it.
        const json = await service.post("dan", "/chat", '{ "text": "Hello" }', undefined, "application/json")
        assert.equal(ended(await eventsOf(json)), "done")
        assert.equal(textOf(await eventsOf(await service.post("dan", "/chat", "Hello"))), "All done.")
      })

      test("SIGTERM closes the sessions and ends the program", async () => {
        service.child.kill("SIGTERM")
        const [code] = await once(service.child, "exit")
        assert.equal(code, 0)
      })
    })
  }

  interface State {
    wiped: string[]
    /** How the runs have ended. */
    ended: string[]
  }

  interface Service {
    child: ChildProcess
    post(user: string, path: string, body: string, signal?: AbortSignal, type?: string): Promise<Response>
    /** Lets the cells that wait go on. */
    release(): Promise<void>
    state(): Promise<State>
  }

  async function startService(file: string): Promise<Service> {
    const child = spawn(process.execPath, [file], {
      cwd: await mkdtemp(join(folder, "work-")),
      env: userEnvironment(folder),
      stdio: ["ignore", "pipe", "inherit"],
    })
    children.push(child)
    const [line] = await once(createInterface(child.stdout), "line")
    const { app, control }: { app: number; control: number } = JSON.parse(line)
    const ask = async (path: string): Promise<State> =>
      JSON.parse(await (await fetch(`http://127.0.0.1:${control}${path}`)).text())
    return {
      child,
      post: (user, path, body, signal, type = "text/plain") =>
        fetch(`http://127.0.0.1:${app}${path}`, {
          method: "POST",
          body,
          headers: { "x-user": user, "content-type": type },
          ...(signal && { signal }),
        }),
      release: async () => void (await ask("/release")),
      state: () => ask("/state"),
    }
  }
})

function ended(events: readonly BrowserEvent[]): string | undefined {
  const last = events.at(-1)
  return last?.type === "run-end" ? last.status : undefined
}

/** The snippet of the page that contains a text. */
async function snippet(text: string): Promise<string> {
  const page = await readFile(new URL("../../docs/web-service.md", import.meta.url), "utf8")
  const found = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].find(([, code]) => code?.includes(text))?.[1]
  assert.ok(found, `docs/web-service.md has no block with ${text}`)
  return found
}
