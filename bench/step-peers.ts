// The tool step of step.ts in the other frameworks, each with a scripted model.
import { perUnit } from "./measure.ts"
import { importPeerFile } from "./peers.ts"

/** The tool step of `step.ts` in other frameworks, each with a model of a fixed script. */
export type PeerRun = () => Promise<number>

// The parts of the peers that are used here; their own types are not installed with Karst.
interface OpenAiAgents {
  Agent: new (options: object) => object
  Usage: new (counts: object) => object
  run(agent: object, prompt: string, options: object): Promise<unknown>
  tool(options: object): object
  setTracingDisabled(disabled: boolean): void
}

interface Langchain {
  createAgent(options: object): { invoke(input: object, options: object): Promise<unknown> }
  tool(run: (input: Note) => Promise<string>, options: object): object
}

interface LangchainMessages {
  AIMessage: new (fields: object) => object
}

interface LangchainModels {
  BaseChatModel: new (options: object) => object
}

interface Mastra {
  Agent: new (options: object) => { generate(prompt: string, options: object): Promise<unknown> }
}

interface MastraTools {
  createTool(options: object): object
}

interface Note {
  text: string
}

const noteOf = (step: number): Note => ({ text: `note of step ${step}` })
const callOf = (step: number) => `call-${step}`
const description = "Takes a note"

export async function openaiAgents(steps: number): Promise<PeerRun> {
  const { Agent, Usage, run, tool, setTracingDisabled } = await load<OpenAiAgents>("@openai/agents", "dist/index.mjs")
  const parameters = await noteSchema()
  setTracingDisabled(true)
  const usage = new Usage({ requests: 1, inputTokens: 900, outputTokens: 40, totalTokens: 940 })
  const status = "completed"
  return () => {
    const notes: string[] = []
    let step = 0
    const model = {
      async getResponse() {
        if (step === steps) {
          const content = [{ type: "output_text", text: "Done." }]
          return { usage, output: [{ type: "message", role: "assistant", status, content }] }
        }
        const call = { callId: callOf(step), name: "note", arguments: JSON.stringify(noteOf(step++)) }
        return { usage, output: [{ type: "function_call", status, ...call }] }
      },
    }
    const note = tool({ name: "note", description, parameters, execute: async ({ text }: Note) => notes.push(text) })
    const agent = new Agent({ name: "agent", instructions: "", model, tools: [note] })
    return perUnit(steps, async () => {
      await run(agent, "Take the notes", { maxTurns: steps + 1 })
      check("@openai/agents", notes, steps)
    })
  }
}

export async function langchain(steps: number): Promise<PeerRun> {
  const { createAgent, tool } = await load<Langchain>("langchain", "dist/index.js")
  const { BaseChatModel } = await load<LangchainModels>("@langchain/core", "dist/language_models/chat_models.js")
  const { AIMessage } = await load<LangchainMessages>("@langchain/core", "dist/messages/index.js")
  const schema = await noteSchema()
  const usage_metadata = { input_tokens: 900, output_tokens: 40, total_tokens: 940 }
  class Scripted extends BaseChatModel {
    step = 0
    _llmType() {
      return "scripted"
    }
    bindTools() {
      return this
    }
    async _generate() {
      const call = () => ({ type: "tool_call", id: callOf(this.step), name: "note", args: noteOf(this.step++) })
      const said = this.step === steps ? { content: "Done." } : { content: "", tool_calls: [call()] }
      return { generations: [{ text: "", message: new AIMessage({ ...said, usage_metadata }) }] }
    }
  }
  return () => {
    const notes: string[] = []
    const note = tool(async ({ text }) => String(notes.push(text)), { name: "note", description, schema })
    const agent = createAgent({ model: new Scripted({}), tools: [note] })
    return perUnit(steps, async () => {
      const messages = [{ role: "user", content: "Take the notes" }]
      await agent.invoke({ messages }, { recursionLimit: 4 * steps })
      check("langchain", notes, steps)
    })
  }
}

export async function mastra(steps: number): Promise<PeerRun> {
  const { Agent } = await load<Mastra>("@mastra/core", "dist/agent/index.js")
  const { createTool } = await load<MastraTools>("@mastra/core", "dist/tools/index.js")
  const inputSchema = await noteSchema()
  const usage = { inputTokens: 900, outputTokens: 40, totalTokens: 940 }
  return () => {
    const notes: string[] = []
    let step = 0
    const callPart = () => {
      const input = JSON.stringify(noteOf(step))
      return { type: "tool-call", toolCallId: callOf(step++), toolName: "note", input }
    }
    const model = {
      specificationVersion: "v2",
      provider: "scripted",
      modelId: "model",
      supportedUrls: {},
      async doGenerate() {
        const isLast = step === steps
        const content = [isLast ? { type: "text", text: "Done." } : callPart()]
        return { content, finishReason: isLast ? "stop" : "tool-calls", usage, warnings: [] }
      },
    }
    const execute = async ({ text }: Note) => notes.push(text)
    const note = createTool({ id: "note", description, inputSchema, execute })
    const agent = new Agent({ id: "agent", name: "agent", instructions: "Take notes", model, tools: { note } })
    return perUnit(steps, async () => {
      await agent.generate("Take the notes", { maxSteps: steps + 1 })
      check("@mastra/core", notes, steps)
    })
  }
}

async function load<T>(name: string, file: string): Promise<T> {
  return (await importPeerFile(name, file)) as T
}

async function noteSchema(): Promise<object> {
  const { z } = await load<typeof import("zod")>("zod", "index.js")
  return z.object({ text: z.string() })
}

function check(peer: string, notes: readonly string[], steps: number): void {
  if (notes.length !== steps) throw new Error(`${peer} took ${notes.length} notes of ${steps}.`)
}
