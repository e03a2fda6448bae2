// Approvals: a call waits for an answer wherever generated code makes it, also in a loop; a refusal is an error there.
// A hook can change, answer or refuse a call before anybody is asked. Limits apply per run, in every runtime.
import { createAgent, fn, type Hooks, jsRuntime, variable } from "karst"
import { scriptedModel } from "karst/models"

class Mailbox {
  #sent = 0
  drafts = ["Ada", "Grace", "Edsger"]
  send(to: string) {
    return `sent to ${to} (${++this.#sent})`
  }
  empty() {
    this.drafts = []
  }
}

const mailbox = new Mailbox()
const runtime = jsRuntime({
  // Guarded methods pass the gate and give Promises; everything else is the object itself.
  mailbox: variable(mailbox, { guard: { send: { approve: true, maxCalls: 3 }, empty: { approve: true } } }),
  pay: fn((to: string, euros: number) => `${euros} € to ${to}`, {
    signature: "(to: string, euros: number) => string",
    approve: ({ args: [, euros] }) => !(typeof euros === "number" && euros <= 100),
  }),
})

const capped: Hooks = {
  beforeCall({ binding, args: [to, euros] }) {
    if (binding !== "pay") return
    return to === "Mallory" ? { refuse: "Mallory is on the list" } : { args: [to, Math.min(Number(euros), 500)] }
  },
}

const model =
  process.env.MODEL ??
  scriptedModel([
    "```ts\nawait Promise.allSettled(mailbox.drafts.map((to) => mailbox.send(to)))\n```\n",
    "Grace may not get one. Now the bills:\n```ts\n[await pay('Ada', 40), await pay('Grace', 9000)]\n```\n",
    "```ts\nawait pay('Mallory', 1)\n```\n",
    "```ts\nawait mailbox.empty()\n```\n",
    "I sent two letters and paid two bills. Mallory was refused, and the drafts are still there.",
  ])

const agent = createAgent({
  model,
  runtime,
  hooks: capped,
  // Answers each question. approver: "events" leaves it to run.approve(id, "allow"); display(run) asks in the terminal.
  approver: ({ binding, method, args }) => (method === "send" ? args[0] !== "Grace" : binding === "pay"),
})

for await (const event of agent.run("Send the drafts, pay the bills, then empty the mailbox.")) {
  if (event.type === "approval-requested")
    console.log("asked:   ", event.call.method ?? event.call.binding, event.call.args)
  if (event.type === "approval-resolved") console.log("answered:", event.decision)
  if (event.type === "code-end") console.log(event.text, "\n")
  if (event.type === "run-end") console.log(event.output)
}
console.log("drafts:", mailbox.drafts)
