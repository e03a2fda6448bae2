// The smallest agent: one live object goes in, the model changes it with code, and your own object is changed.
// Runs without a key through a scripted model; set MODEL=openai/gpt-5.2 (and its key) to use a real one.
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"

class Light {
  brightness = 100
  dim(level: number) {
    this.brightness = level
  }
}

const light = new Light()
const model =
  process.env.MODEL ?? scriptedModel(["I'll dim it.\n```ts\nlight.dim(20)\n```\n", "The living room is at 20 %."])

const agent = createAgent({ model, runtime: jsRuntime({ light }) })
const result = await agent.run("Dim the living room to 20 %")

console.log(result.output) // what the agent says
console.log(light.brightness) // your object, changed: 20
