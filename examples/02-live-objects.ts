// Functions, classes and instances as bindings: say more about one by wrapping it, and read objects back, typed.
// The model sees declarations of these, never their values; print `await agent.describe()` to see what it sees.
import { classType, createAgent, fn, jsRuntime, variable } from "karst"
import { scriptedModel } from "karst/models"

class Thermostat {
  room: string
  target = 20
  constructor(room: string) {
    this.room = room
  }
  /** Sets the target temperature in °C. */
  set(celsius: number) {
    this.target = celsius
  }
}

const forecast = async (day: string) => ({ day, celsius: day === "tomorrow" ? -3 : 8 })

const runtime = jsRuntime({
  Thermostat: classType(Thermostat, { description: "A thermostat in one room" }),
  thermostats: variable([new Thermostat("kitchen"), new Thermostat("study")], "All thermostats of the house"),
  forecast: fn(forecast, {
    description: "The weather forecast",
    signature: "(day: 'today' | 'tomorrow') => Promise<{ day: string; celsius: number }>",
  }),
  log: variable([] as string[], "Add a line here for each change you make"),
})

const model =
  process.env.MODEL ??
  scriptedModel([
    "First the forecast.\n```ts\nconst { celsius } = await forecast('tomorrow')\ncelsius\n```\n",
    "Freezing: I'll turn them up.\n```ts\nfor (const thermostat of thermostats) {\n  thermostat.set(22)\n  log.push(`${thermostat.room} → 22 °C`)\n}\n```\n",
    "It will be −3 °C tomorrow, so both rooms are set to 22 °C.",
  ])

const agent = createAgent({ model, runtime, instructions: "You keep the house comfortable." })
const { output } = await agent.run("If it freezes tomorrow, set every room to 22 °C.")

console.log(output)
const log: string[] = await runtime.retrieve("log")
console.log(log)
