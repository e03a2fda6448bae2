// Agents by name: a configuration file, agents and prompts in Markdown, and a client that runs them. The example writes
// the files of a small project first.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createLocalClient, loadConfig } from "karst/config"
import { type ModelPart, scriptedModel } from "karst/models"

const project = mkdtempSync(join(tmpdir(), "karst-example-"))
const files = {
  "karst.config.json": JSON.stringify({
    model: "fast",
    models: { strong: { id: "openai/gpt-5.2", apiKey: "${WORK_KEY}", contextWindow: 200_000 } },
    agent: "translator",
    agents: {
      translator: { promptName: "translate", description: "Translates into German" },
      researcher: { workspace: "./notes", limits: { cycles: 5 } },
    },
  }),
  ".karst/prompts/translate.md": "Translate what the user writes into German.",
  // The front matter cannot grant tools; the configuration gives this agent its files.
  ".karst/agents/researcher.md": "---\ndescription: Reads notes\nshell: true\n---\nAnswer from the notes.\n",
  "notes/rivers.md": "The Timavo flows underground.",
}
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(join(project, path)), { recursive: true })
  writeFileSync(join(project, path), text)
}

// Stands in for a model: it asks, reads a file, or answers, depending on the agent.
const call = (name: string, input: Record<string, string>): ModelPart[] => [{ type: "tool-call", id: "1", name, input }]
const script = scriptedModel(({ system = "", messages }) => {
  if (system.startsWith("Translate")) return "Guten Morgen."
  if (messages.length > 1) return "The Timavo does."
  return JSON.stringify(messages).includes("Which")
    ? call("read_file", { path: "rivers.md" })
    : call("ask", { question: "Which river?" })
})

const config = await loadConfig({
  config: join(project, "karst.config.json"),
  overrides: { models: { fast: process.env.MODEL ?? script } },
})
for (const { key, value, origin } of config.entries()) {
  if (key.startsWith("model")) console.log(key, JSON.stringify(value), `(${origin.source})`)
}

await using client = await createLocalClient({ config })
for (const { name, description, isDefault } of client.agents())
  console.log(name, "-", description, isDefault ? "(default)" : "")
for (const { path, message } of client.diagnostics()) console.log(`${path.replace(project, "")}: ${message}`)

console.log(await client.ask("Good morning."))
console.log(await client.ask("Which river is hidden?", { agent: "researcher" }))
// run() returns any result; ask() throws unless the run is done.
console.log((await client.run("Tell me about it.", { agent: "researcher" })).status)
await client.ask("Tell me about it.", { agent: "researcher" }).catch((error) => console.log(error.message))
