// A process with a durable run whose cells run in yet another process. Arguments: language, folder, kill point. The
// kill point is the write at which it dies, or `call` for the middle of a cell whose calls run side by side; empty:
// never.
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { createAgent, fn, type Runtime } from "karst"
import { createEngine } from "karst/engine"
import { type ModelRequest, scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { type Store, sqliteStore } from "karst/stores"

const [language = "", folder = "", killPoint = ""] = process.argv.slice(2)
const file = join(folder, "effects.jsonl")
const effect = (name: string, detail: unknown) => appendFileSync(file, `${JSON.stringify([name, detail])}\n`)

// A call with an unknown outcome fails: cells must handle that.
const cells: Record<string, string[]> = {
  typescript: [
    "let rows = [1, 2, 3]\nconst open = new WeakMap()\nconst began = [Date.now(), Math.random()]\n" +
      "const paid = await pay(1).catch(() => 'unknown')",
    "const drawn = [Date.now(), crypto.randomUUID()]\nawait see('drawn', drawn)\n" +
      "const all = await Promise.allSettled([refund(2), see('note', 3), slow(4)])\nrows.push(all.length)",
    "await see('end', [rows, paid, began.length, all.map((each) => each.status)])",
  ],
  python: [
    "import time, uuid, random\nrows = [1, 2, 3]\nclass Open: pass\nopen_ = Open()\n" +
      "began = [time.time(), random.random()]\npaid = 'unknown'\ntry:\n  paid = pay(1)\nexcept Exception: pass",
    "import asyncio, uuid, time\ndrawn = [time.time(), str(uuid.uuid4())]\nsee('drawn', drawn)\n" +
      "async def one(call):\n  try:\n    await call\n    return 'fulfilled'\n  except Exception:\n    return 'rejected'\n" +
      "all_ = await asyncio.gather(one(refund.async_(2)), one(see.async_('note', 3)), one(slow.async_(4)))\nrows.append(len(all_))",
    "see('end', [rows, paid, len(began), all_])",
  ],
}

/** Comes when the refund is known to be done. */
const { promise: refunded, resolve: isRefunded } = Promise.withResolvers<void>()

const model = scriptedModel((request) => {
  const steps = cells[language] ?? []
  const turn = request.messages.filter(({ role }) => role === "assistant").length
  for (const name of lostIn(request)) effect("lost", name)
  const code = steps[turn]
  return code === undefined ? "Done." : `\`\`\`${language}\n${code}\n\`\`\``
})

function lostIn({ messages }: ModelRequest): string[] {
  return [...JSON.stringify(messages).matchAll(/\\n- (\w+): /g)].map(([, name = ""]) => name)
}

function runtime(): Runtime {
  const bindings = {
    pay: fn(async (amount: number) => made("pay", amount)),
    refund: fn(async (amount: number) => made("refund", amount)),
    see: fn(async (what: string, value: unknown) => effect(what, value), { idempotent: true }),
    slow: fn(
      async () => {
        if (killPoint !== "call") return
        await refunded
        process.kill(process.pid, "SIGKILL")
      },
      { unknown: "retry" },
    ),
  }
  return language === "python" ? pythonRuntime(bindings) : processRuntime(bindings)
}

function made(name: string, amount: number): number {
  effect(name, amount)
  return amount
}

const agent = createAgent({ model, runtime })
const store = killing(sqliteStore(join(folder, "karst.db"), { sync: false }))
await using engine = createEngine({ agents: { agent }, store, leaseMs: 2_000 })
const { id } = await engine.submit("agent", "Go.", { key: "one" })
await engine.recover()
const { status, error } = await engine.result(id)
const warnings = (await Array.fromAsync(engine.watch(id))).filter(({ type }) => type === "warning-raised")
process.stdout.write(JSON.stringify({ status, error, warnings }))

/** A store whose owner dies at the chosen write. */
function killing(inner: Store): Store {
  let writes = 0
  return {
    ...inner,
    async commit(changes, guard) {
      const revision = await inner.commit(changes, guard)
      if (++writes === Number(killPoint)) process.kill(process.pid, "SIGKILL")
      const items = changes.flatMap((change) => (change.type === "append" ? change.items : []))
      if (/"type":"done","key":"refund\(/.test(JSON.stringify(items))) isRefunded()
      return revision
    },
  }
}
