import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { Message, ResultMessage } from "../../src/core/message.ts"
import { cutPoints, isPaired } from "../../src/memory/call-result-pairs.ts"
import { compact, initialMemory } from "../../src/memory.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import fc from "../property.ts"
import { ask, call, cell, memoryConversation, say } from "./memory-helpers.ts"

const long = (word: string) => `<output>\n${`${word} `.repeat(200)}\n</output>`
const rows = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    cell(`const row${index} = load(${index})\nrow${index}`, long(`r${index}`)),
  )

function resultOf(message: Message | undefined): ResultMessage["parts"][number] | undefined {
  return message?.role === "result" ? message.parts[0] : undefined
}

describe("clearing old results", () => {
  test("leaves markers that say what they were and where the whole text is, and the newest six as they are", async () => {
    const talk = memoryConversation([ask("go"), ...rows(8).flat()], { compactAtTokens: 4000 })
    await compact(initialMemory, talk.services, talk.emit)
    assert.deepEqual(talk.tiers(), [1])
    const first = resultOf(talk.messages[2])
    assert.equal(
      first?.type === "code-result" && first.text,
      "[The result of the cell `const row0 = load(0)` (ok, 619 characters) was cleared to save room; the whole text is in the variable _output_1.]",
    )
    assert.equal(await talk.runtime.retrieve("_output_1"), long("r0"))
    const cleared = talk.messages.filter((message) => JSON.stringify(message).includes("was cleared"))
    assert.equal(cleared.length, 2)
    assert.deepEqual(talk.messages.slice(-12), talk.start.slice(-12))
    assert.deepEqual(talk.replayed(), talk.messages)
  })

  test("names tools and failures, and leaves what is short", async () => {
    const failed = cell("explode()", `<error>\n${"boom ".repeat(100)}\n</error>`, false)
    const talk = memoryConversation(
      [
        ask("go"),
        ...call("search", { q: "x" }, "found ".repeat(100)),
        ...failed,
        ...cell("1", "<output>\n1\n</output>"),
      ],
      { compactAtTokens: 250, keepResults: 0 },
    )
    await compact(initialMemory, talk.services, talk.emit)
    const texts = talk.messages.map(resultOf).flatMap((part) => (part && part.type !== "image" ? [part.text] : []))
    assert.match(texts[0] ?? "", /the tool search \(ok, 600 characters\).*_output_1/)
    assert.match(texts[1] ?? "", /the cell `explode\(\)` \(failed,.*_output_2/)
    assert.equal(texts[2], "<output>\n1\n</output>")
  })

  test("uses the variable that holds a text already, and no other one", async () => {
    const note = (name: string) => `… 9000 of 10000 characters left out; the whole text is in the variable ${name} …`
    const shown = cell("print(text)", `<output>\n${"a ".repeat(200)}\n${note("_output_7")}\n</output>`)
    const valued = cell(
      "value",
      `<output>\n${"a ".repeat(200)}\n… the whole value is in the variable _output_8 …\n</output>`,
    )
    for (const [pair, name] of [
      [shown, "_output_7"],
      [valued, "_output_8"],
    ] as const) {
      const part = pair[1].parts[0]
      if (part?.type === "code-result") part.kept = name
    }
    const talk = memoryConversation([ask("go"), ...shown, ...valued], { compactAtTokens: 150, keepResults: 0 })
    await compact(initialMemory, talk.services, talk.emit)
    const kept = talk.messages.map(resultOf).flatMap((part) => (part?.type === "code-result" ? [part.kept] : []))
    assert.deepEqual(kept, ["_output_7", "_output_1"])
    assert.match(String(await talk.runtime.retrieve("_output_1")), /whole value is in the variable _output_8/)
  })

  test("uses the variable in which an agent has stored the output of a cell", async () => {
    const model = scriptedModel(['```ts\nconsole.log("word ".repeat(4000))\n```', "Printed."])
    const memory = { compactAtTokens: 800, keepResults: 0 }
    const { messages, trajectory } = await createAgent({ model, maxOutputChars: 3000, memory }).run("Print it")
    const shown = trajectory.events.find((event) => event.type === "code-end")?.text ?? ""
    assert.match(shown, /the whole text is in the variable _output_1 …/)
    assert.match(JSON.stringify(messages), /was cleared to save room; the whole text is in the variable _output_1\./)
    assert.doesNotMatch(JSON.stringify(messages), /_output_2/)
  })

  test("keeps images of old results in variables too", async () => {
    const [code, result] = cell("chart()", "<output>\n(no output)\n</output>")
    result.parts.push({ type: "image", mediaType: "image/png", data: "AAAA" })
    const talk = memoryConversation([ask("go"), code, result, say("There.")], { compactAtTokens: 500, keepResults: 0 })
    await compact(initialMemory, talk.services, talk.emit)
    assert.match(JSON.stringify(talk.messages), /\[an image, image\/png, in the variable _image_1\]/)
    assert.deepEqual(await talk.runtime.retrieve("_image_1"), { mediaType: "image/png", data: "AAAA" })
    assert.equal(JSON.stringify(talk.messages).includes("AAAA"), false)
  })

  test("never gives a name that the conversation has used for something else", async () => {
    const talk = memoryConversation([ask("go"), ...rows(8).flat()], { compactAtTokens: 4000 })
    await compact(initialMemory, { ...talk.services, reservedNames: new Set(["_output_1", "_output_2"]) }, talk.emit)
    assert.match(JSON.stringify(talk.messages), /in the variable _output_3\./)
    assert.doesNotMatch(JSON.stringify(talk.messages), /in the variable _output_[12]\./)
  })

  test("changes nothing the second time", async () => {
    const results = fc.array(fc.tuple(fc.integer({ min: 0, max: 1200 }), fc.boolean()), { minLength: 1, maxLength: 14 })
    await fc.assert(
      fc.asyncProperty(results, fc.nat({ max: 7 }), async (lengths, keepResults) => {
        const cells = lengths.flatMap(([length, ok]) => cell(`f(${length})`, "z".repeat(length), ok))
        const talk = memoryConversation([ask("go"), ...cells], { compactAtTokens: 1, keepResults, systemTokens: 1 })
        const state = { ...initialMemory, measured: { tokens: 1, estimate: 1e9 } }
        await compact(state, talk.services, talk.emit)
        const once = JSON.stringify(talk.messages)
        const told = talk.events.length
        await compact(state, talk.services, talk.emit)
        assert.equal(JSON.stringify(talk.messages), once)
        assert.equal(talk.events.length, told)
        assert.ok(isPaired(talk.messages))
        assert.deepEqual(talk.replayed(), talk.messages)
      }),
      { numRuns: 40 },
    )
  })
})

describe("pairs", () => {
  const turn = fc.constantFrom("say", "cell", "call", "ask", "two")
  const talks = fc.array(turn, { minLength: 1, maxLength: 30 }).map((turns) =>
    turns.flatMap((kind): Message[] => {
      if (kind === "cell") return cell("1", "1")
      if (kind === "call") return call("look", {}, "there")
      if (kind === "ask") return [ask("?")]
      if (kind === "say") return [say("!")]
      const [first, second] = [call("a", {}, "1"), call("b", {}, "2")]
      const both = { ...first[0], parts: [...first[0].parts, ...second[0].parts] }
      return [both, first[1], ask("in between"), second[1]]
    }),
  )

  test("are on one side of every place where a conversation may be cut", () => {
    fc.assert(
      fc.property(talks, (messages) => {
        assert.ok(isPaired(messages))
        const points = cutPoints(messages)
        for (let index = 1; index < messages.length; index++) {
          const whole = isPaired(messages.slice(0, index)) && isPaired(messages.slice(index))
          assert.equal(points.includes(index), whole)
        }
      }),
    )
  })

  test("are missed where a result is gone, doubled or alone", () => {
    const [code, result] = cell("1", "1")
    assert.equal(isPaired([code]), false)
    assert.equal(isPaired([result]), false)
    assert.equal(isPaired([code, result, result]), false)
    assert.equal(isPaired([result, code]), false)
  })
})
