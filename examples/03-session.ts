// A session: three runs that share one conversation and one runtime.
// Objects that an earlier run put into `tasks` are still there in the next.
import { createAgent, fn, jsRuntime, variable } from "karst"
import { scriptedModel } from "karst/models"

interface Task {
  name: string
  done: boolean
}

const tasks: Task[] = []
const runtime = jsRuntime({
  tasks: variable(tasks, "The user's tasks"),
  addTask: fn((name: string) => tasks.push({ name, done: false }), {
    description: "Add a task to the list",
    signature: "(name: string) => number",
  }),
  remind: fn((text: string) => `Reminder set: ${text}`, {
    description: "Send the user a reminder",
    signature: "(text: string) => string",
  }),
})

const model =
  process.env.MODEL ??
  scriptedModel([
    "```ts\nawait addTask('buy groceries')\nawait addTask('call mom')\n```\n",
    "Added both.",
    "```ts\ntasks.find((task) => task.name.includes('groceries')).done = true\nawait remind('Call mom')\n```\n",
    "Groceries are done, and I'll remind you to call mom.",
    "```ts\nconst open = tasks.filter((task) => !task.done)\n`${tasks.length - open.length} of ${tasks.length} done, open: ${open.map((task) => task.name)}`\n```\n",
    "One of two tasks is done; calling mom is still open.",
  ])

const agent = createAgent({ model, runtime })
await using session = await agent.session()

for (const prompt of [
  "Add 'buy groceries' and 'call mom' to my tasks",
  "Groceries are done. Remind me about mom.",
  "How far am I?",
]) {
  const { output } = await session.send(prompt)
  console.log(`> ${prompt}\n${output}\n`)
}
console.log(await runtime.retrieve("tasks"))
