// The smallest agent: one live object goes in, the model changes it with code, and your own object is changed.
// Runs without a key through a scripted model; set MODEL=openai/gpt-5.2 (and its key) to use a real one.

// #region program
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"

const light = { room: "living room", brightness: 100 } // any object of yours
const script = ["```ts\nlight.brightness = 20\n```", "The living room is at 20 %."] // what the model answers here
const model = process.env.MODEL ?? scriptedModel(script) // MODEL=openai/gpt-5.2 asks a real model

const agent = createAgent({ model, runtime: jsRuntime({ light }) })
const { output } = await agent.run("Dim the living room to 20 %")
console.log(output)
console.log(light.brightness)
// #endregion
