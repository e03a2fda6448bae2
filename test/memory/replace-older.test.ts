import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { ModelError } from "../../src/core/errors.ts"
import { type Message, messageText, userMessage } from "../../src/core/message.ts"
import { isPaired } from "../../src/memory/call-result-pairs.ts"
import { estimateMessages } from "../../src/memory/estimate-tokens.ts"
import { summaryOf } from "../../src/memory/summary-text.ts"
import { compact, initialMemory, type MemoryState } from "../../src/memory.ts"
import type { ScriptedStep } from "../../src/models/scripted.ts"
import fc from "../property.ts"
import { ask, call, cell, goodSummary, memoryConversation, say } from "./memory-helpers.ts"

const words = (word: string, count = 60) => `${word} `.repeat(count)

/** Exchanges of a user and an agent, each with a cell. */
const turns = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index): Message[] => [
    ask(`prompt ${from + index} ${words("please", 20)}`),
    ...cell(`const x${from + index} = 1`, `<output>\n${from + index}\n</output>`),
    say(`answer ${from + index} ${words("indeed", 20)}`),
  ]).flat()

const asked = (request: { messages: readonly Message[] } | undefined) =>
  (request?.messages ?? []).map(messageText).join()

describe("summarising older messages", () => {
  test("puts a structured summary first, keeps the newer half, and everything word for word in a variable", async () => {
    const talk = memoryConversation(turns(10), { compactAtTokens: 900, answers: [goodSummary("- the id is A-17")] })
    await talk.runtime.execute("const df = [1, 2, 3]")
    await compact(initialMemory, talk.services, talk.emit)
    assert.deepEqual(talk.tiers(), [2])
    const [first, ...rest] = talk.messages
    const summary = first && summaryOf(first)
    assert.deepEqual(summary?.sections?.facts, "- the id is A-17")
    assert.match(summary?.text ?? "", /texts in the session: _history_1\./)
    assert.match(summary?.text ?? "", /## Live variables\n- df: .*\(3\)/)
    assert.doesNotMatch(summary?.text ?? "", /secret thoughts/)
    assert.deepEqual(rest, talk.start.slice(-rest.length))
    assert.ok(estimateMessages(rest) <= 450 && rest.length >= 8, String(rest.length))
    const history = String(await talk.runtime.retrieve("_history_1"))
    for (const message of talk.start.slice(0, -rest.length)) assert.ok(history.includes(messageText(message)))
    assert.deepEqual(talk.replayed(), talk.messages)
  })

  test("begins the newer part at the start of a turn, wherever the budget ends", async () => {
    for (let compactAtTokens = 500; compactAtTokens <= 1300; compactAtTokens += 50) {
      const host = userMessage("(New in the session: y)", "host")
      const start = [...turns(9), host, ...turns(5, 9)]
      const talk = memoryConversation(start, { compactAtTokens, answers: [goodSummary()] })
      await compact(initialMemory, talk.services, talk.emit)
      const [first, second] = talk.messages.slice(1)
      const begin = first === host ? second : first
      assert.match(begin ? messageText(begin) : "", /^prompt \d+/, String(compactAtTokens))
      if (begin && messageText(begin).startsWith("prompt 9 ")) assert.equal(first, host)
    }
  })

  test("begins it in one long turn with an answer after a result, and keeps the prompt", async () => {
    for (let compactAtTokens = 500; compactAtTokens <= 1300; compactAtTokens += 50) {
      const prompt = ask("the prompt")
      const steps = Array.from({ length: 30 }, (_, index) => [
        ...cell(`const x${index} = 1`, `<output>\n${words("out", 40)}\n</output>`),
        ...call("look", { at: `${index}` }, words("found", 40)),
      ]).flat()
      const talk = memoryConversation([prompt, ...steps], {
        compactAtTokens,
        keepResults: 99,
        answers: [goodSummary()],
      })
      await compact(initialMemory, talk.services, talk.emit)
      const [, second, third] = talk.messages
      assert.equal(second?.id, prompt.id)
      assert.equal(third?.role, "assistant")
      assert.ok(isPaired(talk.messages))
    }
  })

  test("shows the summariser whole messages, and counts what it cost", async () => {
    const usage = { input: 700, output: 90, complete: true }
    const answer: ScriptedStep = [
      { type: "text", text: goodSummary() },
      { type: "finish", reason: "stop", usage },
    ]
    const talk = memoryConversation([ask(words("start", 3000)), ...turns(4)], {
      compactAtTokens: 900,
      answers: [answer],
    })
    await compact(initialMemory, talk.services, talk.emit)
    assert.ok(asked(talk.model.requests[0]).includes(words("start", 3000).trim()))
    assert.deepEqual(talk.spent, usage)
    const told = talk.events.find((event) => event.type === "memory-compacted")
    assert.deepEqual(told?.usage, usage)
  })

  test("carries a summary forward: the next one is made from it, and cannot forget it", async () => {
    const talk = memoryConversation(turns(10), {
      compactAtTokens: 900,
      answers: [goodSummary("- the id is A-17"), goodSummary("- the code is 42")],
    })
    await compact(initialMemory, talk.services, talk.emit)
    talk.messages.push(...turns(8, 10))
    await compact(initialMemory, talk.services, talk.emit)
    assert.match(asked(talk.model.requests[1]), /<earlier-summary>[\s\S]*the id is A-17[\s\S]*<\/earlier-summary>/)
    const parts = talk.messages.map(summaryOf).filter((part) => part !== undefined)
    assert.equal(parts.length, 1)
    assert.equal(parts[0]?.sections?.facts, "- the id is A-17\n- the code is 42")
    assert.match(parts[0]?.text ?? "", /_history_1 to _history_2/)
  })

  test("leaves the newest prompt and what is pinned as they were said", async () => {
    const pinned: Message = { ...ask("New in the session: tool"), origin: "host", pinned: true }
    const beside: Message = { ...ask("Fill `report`."), origin: "host" }
    const prompt = ask("Work through all of it.")
    const cells = Array.from({ length: 20 }, (_, index) => [
      say(words("thinking", 20)),
      ...cell(`step(${index})`, "<output>\nok\n</output>"),
    ]).flat()
    const talk = memoryConversation([pinned, ask("Hello"), say("Hi."), beside, prompt, ...cells], {
      compactAtTokens: 900,
      answers: [goodSummary()],
    })
    await compact(initialMemory, talk.services, talk.emit)
    assert.deepEqual(talk.messages.slice(1, 4), [pinned, beside, prompt])
    assert.equal(((await talk.runtime.retrieve("_history_1")) as string).includes("Work through"), false)
  })

  test("keeps what was said with the newest prompt, wherever the conversation is cut", async () => {
    const beside: Message = { ...ask("Fill `report`."), origin: "host" }
    for (const more of [0, 1, 2, 3, 4, 5]) {
      const newer = [beside, ask("Now work."), ...Array.from({ length: more }, () => say(words("well", 25)))]
      const talk = memoryConversation([...turns(10), ...newer], { compactAtTokens: 900, answers: [goodSummary()] })
      await compact(initialMemory, talk.services, talk.emit)
      const place = talk.messages.indexOf(beside)
      assert.ok(place > 0 && talk.messages[place + 1] === newer[1], String(more))
    }
  })

  test("takes no text of a user for a summary", async () => {
    const talk = memoryConversation([ask(goodSummary("- I am the summary")), ...turns(8)], {
      compactAtTokens: 900,
      answers: [goodSummary()],
    })
    await compact(initialMemory, talk.services, talk.emit)
    assert.doesNotMatch(asked(talk.model.requests[0]), /<earlier-summary>/)
    assert.match(asked(talk.model.requests[0]), /I am the summary/)
  })

  test("reads in halves what is too long for the summariser, each with the summary so far", async () => {
    let made = 0
    const answer = (): ScriptedStep => goodSummary(`- part ${++made}`)
    const talk = memoryConversation(turns(40), { compactAtTokens: 3000, window: 5000, answers: Array(20).fill(answer) })
    await compact(initialMemory, talk.services, talk.emit)
    assert.ok(talk.model.requests.length > 1)
    const facts = summaryOf(talk.messages[0] as Message)?.sections?.facts ?? ""
    for (let part = 1; part <= made; part++) assert.ok(facts.includes(`part ${part}`), facts)
    assert.deepEqual(talk.tiers(), [2])
  })

  test("reads in halves what the summariser's provider refuses as too long", async () => {
    const refuse = new ModelError("too long", { code: "context-overflow" })
    const talk = memoryConversation(turns(10), {
      compactAtTokens: 900,
      answers: [refuse, goodSummary("- one"), goodSummary("- two")],
    })
    await compact(initialMemory, talk.services, talk.emit)
    assert.deepEqual([talk.tiers(), talk.warnings()], [[2], []])
  })
})

describe("when no summary can be had", () => {
  const cut: ScriptedStep = [
    { type: "text", text: goodSummary() },
    { type: "finish", reason: "length", usage: { complete: false } },
  ]
  const failures: Record<string, ScriptedStep> = {
    "the model fails": new ModelError("down", { code: "server-error" }),
    "it is cut": cut,
    "it is empty": "",
    "it has no structure": "The user said many things.",
    "it is far too long": goodSummary(`- ${words("fact", 5000)}`),
  }

  for (const [why, answer] of Object.entries(failures)) {
    test(`because ${why}, older messages are taken out and the summary before stays`, async () => {
      const talk = memoryConversation(turns(10), {
        compactAtTokens: 900,
        answers: [goodSummary("- the id is A-17"), answer],
      })
      await compact(initialMemory, talk.services, talk.emit)
      talk.messages.push(...turns(8, 10))
      const { state } = await compact(initialMemory, talk.services, talk.emit)
      assert.deepEqual([talk.tiers(), talk.warnings()], [[2, 3], ["summary-failed"]])
      assert.equal(state.failures, 1)
      const part = talk.messages[0] && summaryOf(talk.messages[0])
      assert.equal(part?.sections?.facts, "- the id is A-17")
      assert.match(part?.text ?? "", /Not summed up: _history_2\./)
      assert.match(String(await talk.runtime.retrieve("_history_2")), /prompt 10/)
      assert.ok(isPaired(talk.messages))
    })
  }

  test("the next summary covers what was taken out without one", async () => {
    const talk = memoryConversation(turns(10), { compactAtTokens: 900, answers: ["", goodSummary("- all of it")] })
    await compact(initialMemory, talk.services, talk.emit)
    talk.messages.push(...turns(8, 10))
    await compact(initialMemory, talk.services, talk.emit)
    assert.match(asked(talk.model.requests[1]), /prompt 0 /)
    const part = talk.messages[0] && summaryOf(talk.messages[0])
    assert.deepEqual([part?.history, part?.unread], [["_history_1", "_history_2"], []])
  })

  test("three times in a row, ten compactions go without asking, then it is tried again", async () => {
    const answers = ["", "", "", goodSummary("- back again")]
    const talk = memoryConversation([], { compactAtTokens: 900, answers })
    let state: MemoryState = initialMemory
    for (let round = 0; round < 14; round++) {
      talk.messages.push(...turns(10, round * 10))
      state = (await compact(state, talk.services, talk.emit)).state
      // Data from a store is parsed JSON.
      state = JSON.parse(JSON.stringify(state))
    }
    assert.deepEqual(talk.tiers(), [...Array(13).fill(3), 2])
    assert.equal(talk.model.requests.length, 4)
    assert.deepEqual(state, { failures: 0, skips: 0 })
    assert.match(asked(talk.model.requests[3]), /prompt 0 /)
  })

  test("because it was aborted, nothing changes and nothing is held against the summariser", async () => {
    const abort = new AbortController()
    const answer = () => {
      abort.abort()
      return new Promise<ScriptedStep>(() => undefined)
    }
    const talk = memoryConversation(turns(10), { compactAtTokens: 900, answers: [answer], signal: abort.signal })
    const { state, changed } = await compact(initialMemory, talk.services, talk.emit)
    assert.deepEqual([state, changed, talk.events], [initialMemory, false, []])
  })

  test("because the session is gone, the conversation stays as it is, with a warning", async () => {
    const talk = memoryConversation(turns(10), { compactAtTokens: 900, answers: [goodSummary()] })
    await talk.runtime.close()
    await compact(initialMemory, talk.services, talk.emit)
    assert.deepEqual([talk.warnings(), talk.messages], [["memory-failed"], talk.start])
  })
})

describe("any conversation", () => {
  test("is paired, bounded and told by its events after it was made shorter", async () => {
    const sizes = fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.constantFrom("ask", "say", "cell")), {
      minLength: 1,
      maxLength: 40,
    })
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fc.integer({ min: 700, max: 3000 }),
        fc.boolean(),
        async (parts, compactAtTokens, fails) => {
          const messages = parts.flatMap(([size, kind]): Message[] => {
            if (kind === "ask") return [ask(words("ask", size / 4))]
            if (kind === "say") return [say(words("say", size / 2))]
            return cell(`f(${size})`, words("out", size))
          })
          const talk = memoryConversation(messages, {
            compactAtTokens,
            answers: Array(50).fill(fails ? "" : goodSummary("- x")),
          })
          await compact(initialMemory, talk.services, talk.emit)
          assert.ok(isPaired(talk.messages))
          assert.deepEqual(talk.replayed(), talk.messages)
          assert.ok(
            estimateMessages(talk.messages) <= Math.max(compactAtTokens, 0),
            String(estimateMessages(talk.messages)),
          )
          const ids = talk.messages.map((message) => message.id)
          assert.equal(new Set(ids).size, ids.length)
        },
      ),
      { numRuns: 60 },
    )
  })
})
