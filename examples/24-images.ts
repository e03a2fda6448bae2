// Images: a tool shows an image from the workspace or the web to the model, after all results of the same answer.
// The type is read from the first bytes, not from the file name: png, jpeg, webp, gif or bmp.
import { createAgent, type Json } from "karst"
import { type ModelPart, scriptedModel } from "karst/models"
import { memoryWorkspace } from "karst/workspaces"

const red = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
const workspace = memoryWorkspace({
  "photos/wall": new Uint8Array(Buffer.from(red, "base64")),
  "photos/notes.png": "not an image at all",
})

const call = (name: string, input: Json, id = name): ModelPart => ({ type: "tool-call", id, name, input })
const model =
  process.env.MODEL ??
  scriptedModel([
    [call("read_image", { path: "photos/wall" }), call("read_image", { path: "photos/notes.png" }, "second")],
    ({ messages }) => {
      const images = messages.filter(({ parts }) => parts.some(({ type }) => type === "image"))
      return `I have seen ${images.length} image; the wall is red.`
    },
  ])

const agent = createAgent({ model, workspace })
for await (const event of agent.run("What colour is the wall?")) {
  if (event.type === "tool-end") console.log(event.ok ? "shown:" : "not shown:", event.text, event.images?.length ?? 0)
  if (event.type === "run-end") console.log(event.output)
}
