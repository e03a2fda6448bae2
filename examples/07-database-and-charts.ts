// A real database and a chart collector: the model queries one and fills the other; you render what it collected.
// Rows never pass through the conversation: the model sees types, and your program gets the chart objects themselves.
import { DatabaseSync } from "node:sqlite"
import { createAgent, jsRuntime, variable } from "karst"
import { scriptedModel } from "karst/models"

interface Chart {
  title: string
  labels: string[]
  values: number[]
}

class Charts {
  readonly all: Chart[] = []
  /** Adds a bar chart. */
  bar(chart: Chart) {
    this.all.push(chart)
  }
}

const db = new DatabaseSync(":memory:")
db.exec("create table air (day text, station text, pm25 real)")
const insert = db.prepare("insert into air values (?, ?, ?)")
for (let day = 1; day <= 7; day++) {
  for (const station of ["north", "harbour"])
    insert.run(`2026-03-0${day}`, station, 10 + ((day * 7) % 11) + station.length)
}

const runtime = jsRuntime({
  db: variable(db, "SQLite (node:sqlite); table air(day text, station text, pm25 real)"),
  charts: variable(new Charts(), {
    description: "Collects charts for the user",
    type: "{ bar(chart: { title: string; labels: string[]; values: number[] }): void }",
  }),
})

const model =
  process.env.MODEL ??
  scriptedModel([
    "```ts\nconst rows = db.prepare('select day, avg(pm25) as mean from air group by day order by day').all()\ncharts.bar({\n  title: 'PM2.5, daily mean',\n  labels: rows.map((row) => row.day.slice(5)),\n  values: rows.map((row) => row.mean),\n})\nrows.length\n```\n",
    "Here is the air quality of the past week, as a chart.",
  ])

const { output } = await createAgent({ model, runtime }).run("Show me the air quality trend of the past week.")
console.log(output)

const charts = await runtime.retrieve("charts")
for (const { title, labels, values } of charts.all) {
  console.log(`\n${title}`)
  const scale = 40 / Math.max(...values)
  for (const [index, value] of values.entries()) {
    console.log(`${labels[index]} ${"█".repeat(Math.round(value * scale))} ${value.toFixed(1)}`)
  }
}
