// Generated code in a process of its own, working on your database through a live handle: the connection stays here.
// Its calls are awaited and gated; but what it can, the code can: give code you do not trust narrow functions instead.
import { DatabaseSync } from "node:sqlite"
import { createAgent, variable } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"

const db = new DatabaseSync(":memory:")
db.exec("create table orders (city text, amount real)")
const insert = db.prepare("insert into orders values (?, ?)")
for (const [city, amount] of [
  ["Oslo", 120],
  ["Lima", 80],
  ["Oslo", 60],
  ["Accra", 200],
] as const)
  insert.run(city, amount)

await using runtime = processRuntime({
  db: variable(db, "SQLite (node:sqlite); table orders(city text, amount real)"),
  report: variable([] as { city: string; total: number }[], "Put the answer here"),
})

const model =
  process.env.MODEL ??
  scriptedModel([
    "```ts\nconst query = await db.prepare('select city, sum(amount) as total from orders group by city order by total desc')\nreport = await query.all()\nreport.length\n```\n",
    "Accra leads with 200, then Oslo with 180 and Lima with 80. I'll mark the day as closed.\n```ts\nawait db.exec('create table closed (day text); insert into closed values (date())')\n```\n",
    "The report is ready and the day is closed.",
  ])

const calls: string[] = []
const { output } = await createAgent({
  model,
  runtime,
  onEvent(event) {
    if (event.type === "call-start") calls.push(`${event.call.binding}.${event.call.method}(${event.call.args})`)
  },
}).run("Which city orders the most? Close the day when you have the report.")

console.log(output)
console.table(await runtime.retrieve("report"))
console.log("calls that reached the database:", calls)
console.log("closed days, in your own connection:", db.prepare("select count(*) as days from closed").get())
