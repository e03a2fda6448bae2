// A pipeline over a web service, scored by the state it leaves: search papers, download them, have them translated, put
// them on a shelf. The service runs in this process; each case gets its own shelf from the runtime factory.
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createAgent, jsRuntime, type Message, messageText } from "karst"
import { type Scorer, suite } from "karst/evals"
import { scriptedModel } from "karst/models"

const papers = [
  { id: "2401.1", title: "Karst springs", text: "Water finds its way." },
  { id: "2401.2", title: "Karst caves", text: "Caves grow slowly." },
  { id: "2402.7", title: "Glaciers", text: "Ice flows." },
]
const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://service")
  const found = papers.filter(({ title }) => title.toLowerCase().includes(url.searchParams.get("q") ?? ""))
  const paper = papers.find(({ id }) => url.pathname === `/papers/${id}`)
  response.end(JSON.stringify(url.pathname === "/search" ? found.map(({ id, title }) => ({ id, title })) : paper))
}).listen(0, "127.0.0.1")
await once(server, "listening")
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const service = {
  search: async (q: string) => (await (await fetch(`${base}/search?q=${q}`)).json()) as { id: string; title: string }[],
  download: async (id: string) => (await (await fetch(`${base}/papers/${id}`)).json()) as { text: string },
}
const promptOf = (messages: readonly Message[]) => messages.slice(0, 1).map(messageText).join("")
const german: Record<string, string> = { Water: "Wasser findet seinen Weg.", Caves: "Höhlen wachsen langsam." }
const translator = createAgent({
  name: "translator",
  model: process.env.MODEL ?? scriptedModel(({ messages }) => german[promptOf(messages).split(" ")[1] ?? ""] ?? "?"),
})

// Stands in for a model: one cell does the whole pipeline.
const pipeline = (topic: string) => `for (const { id } of await service.search("${topic}")) {
  const { text } = await service.download(id)
  shelf.set(id, (await translator.run("Translate: " + text)).output)
}`
const librarian = createAgent({
  model:
    process.env.MODEL ??
    scriptedModel(({ messages }) => {
      const topic = /about (\w+)/.exec(promptOf(messages))?.[1] ?? ""
      return messages.length > 1 ? "They are on the shelf." : `\`\`\`ts\n${pipeline(topic)}\n\`\`\`\n`
    }),
  runtime: () => jsRuntime({ service, translator, shelf: new Map<string, string>() }),
})

const onShelf: Scorer<string[]> = async ({ runtime, expected = [] }) => {
  const shelf = (await runtime.retrieve("shelf")) as Map<string, string>
  return { pass: String([...shelf.values()]) === String(expected), reason: `on the shelf: ${[...shelf.values()]}` }
}
const ask = (topic: string, expected: string[]) => ({ name: topic, prompt: `Translate all about ${topic}`, expected })
const cases = [ask("karst", Object.values(german)), ask("glaciers", ["Eis fließt."])]
const report = await suite(cases, { onShelf }, { agent: librarian })
console.log(report.table())
server.close()
