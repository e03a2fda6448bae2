// test lane: newcomer, long
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { requires } from "../../system.ts"
import { modelServer } from "../karst.ts"
import { type ChatWindow, cell, openChat } from "./open-chat.ts"

const summary =
  "<summary>\n## Goals\n- Learn about rivers.\n\n## Decisions\n- none\n\n## Facts\n- The Danube was described.\n\n## Open work\n- none\n</summary>"
/** An answer that takes much room. */
const long = (text: string) => `${text} ${"It flows to the sea. ".repeat(60)}`

/** The messages of a request after the system prompt, as text. */
function messagesOf(body: string | undefined): string {
  return JSON.stringify(JSON.parse(body ?? "{}").messages.slice(1))
}

async function say(chat: ChatWindow, prompt: string, end = "✓ done"): Promise<void> {
  chat.type(prompt, "Enter")
  await chat.sees(new RegExp(`❯ ${prompt}\\n[^❯]*${end}[^❯]*❯ *$`, "m"))
}

async function command(chat: ChatWindow, text: string, answer: RegExp): Promise<void> {
  chat.type(text, "Enter")
  await chat.sees(new RegExp(`❯ ${text}\\n${answer.source}[^❯]*❯`))
}

describe("the commands of karst chat in a terminal", { skip: requires("tmux") }, () => {
  test("/compact replaces older messages by a summary before the next prompt, unless the conversation is short", async (t) => {
    const chat = await openChat(t, [long("The Danube."), long("The Rhine."), summary, "The Nile.", "The Po."], {
      size: [100, 90],
    })
    await command(chat, "/compact", /· The conversation is too short to be made shorter\./)
    await say(chat, "One river")
    await say(chat, "Another river")
    await command(chat, "/compact", /· The conversation is made shorter before your next prompt\./)
    await say(chat, "A third", "✂ Older messages were made shorter\\.\\n\\n● The Nile\\.\\n\\n✓ done")
    const [before = "", asksForSummary = "", after = ""] = chat.bodies.slice(1).map(messagesOf)
    assert.match(asksForSummary, /<messages>.*The Danube\./)
    assert.match(after, /The Danube was described\./)
    assert.doesNotMatch(after, /The Danube\. It flows/)
    assert.match(after, /A third/)
    // The request before it had the first exchange in full, and not yet the second answer.
    assert.match(before, /The Danube\. It flows/)
    assert.ok(after.length < before.length, `${after.length} instead of ${before.length} characters`)
    // It was asked for once.
    await say(chat, "A fourth")
    assert.equal(chat.bodies.length, 5)
    assert.match(messagesOf(chat.bodies[4]), /The Danube was described\..*A third.*A fourth/)
  })

  test("/undo goes back cell by cell, with variables and conversation, until there is none", async (t) => {
    const chat = await openChat(t, [cell("let a = 1"), "One.", cell("a = 2"), "Two.", cell("a"), "It is one."], {
      size: [100, 50],
    })
    await say(chat, "Set it")
    await say(chat, "Change it")
    await command(chat, "/show a", /2/)
    await command(chat, "/undo", /· Undone: the last cell and what followed\./)
    await chat.sees(/❯ Change it\s*$/)
    chat.type("", "C-u")
    await command(chat, "/show a", /1/)
    await say(chat, "What is it")
    const last = messagesOf(chat.bodies.at(-1))
    assert.match(last, /Set it.*What is it/)
    assert.doesNotMatch(last, /Change it/)
    for (const prompt of ["What is it", "Set it"]) {
      chat.type("/undo", "Enter")
      await chat.sees(new RegExp(`❯ ${prompt}\\s*$`))
      chat.type("", "C-u")
    }
    await command(chat, "/undo", /· There is no cell to undo\./)
    await command(chat, "/vars", /· There are no variables yet\./)
  })

  test("/fork goes on in a copy with its own variables, and /resume leads back", async (t) => {
    const chat = await openChat(t, [cell("let a = 1"), "One.", cell("a = 2"), "Two.", "Three."], { size: [100, 50] })
    await say(chat, "Set it")
    chat.type("/fork", "Enter")
    await chat.sees(/· You are now in a copy\. The original: karst chat --session s_\w+\n/)
    const [, original = ""] = /--session (s_\w+)/.exec(chat.screen()) ?? []
    await say(chat, "Change it")
    await command(chat, "/show a", /2/)
    chat.type("/resume", "Enter")
    await chat.sees(/❯ \/resume\nsession +last used +first prompt\n─.*\n(s_\w+ .* Set it\n){2}· Go on with one/)
    chat.type(`/resume ${original}`, "Enter")
    await chat.sees(`session ${original}`)
    await command(chat, "/show a", /1/)
    await say(chat, "And now")
    assert.doesNotMatch(messagesOf(chat.bodies.at(-1)), /Change it/)
    chat.type("/resume nowhere", "Enter")
    await chat.sees(/✗ There is no session "nowhere" in .*\n?.*See:\s+\/resume/)
  })

  test("/model names the model, changes it from the next prompt on, and refuses one that cannot be", async (t) => {
    const other = await modelServer(t, ["From the other."])
    const chat = await openChat(t, ["From the first."])
    await command(chat, "/model", /· karst · openai-compatible\/test · cells /)
    chat.type("/model nonsense", "Enter")
    await chat.sees(/✗ \/model names the model "nonsense"/)
    await say(chat, "Who", "● From the first\\.")
    const id = other.id.replace("#test", "#other")
    chat.type(`/model ${id}`, "Enter")
    await chat.sees("From now on: openai-compatible")
    await command(chat, "/model", /· karst · openai-compatible:http[^ ]*#other · cells /)
    await say(chat, "And you", "● From the other\\.")
    assert.match(messagesOf(other.bodies[0]), /Who.*From the first\..*And you/)
  })

  test("/save writes the session to a file, which karst trajectory show can read, and /cost adds up", async (t) => {
    const chat = await openChat(t, ["Fine.", "Good."])
    await say(chat, "One")
    await say(chat, "Two")
    await command(chat, "/save out/talk.json", /· Written to out\/talk\.json/)
    const { runs, agent } = JSON.parse(await readFile(join(chat.folder, "out/talk.json"), "utf8"))
    assert.deepEqual([runs.length, agent], [2, "karst"])
    chat.type("/save", "Enter")
    await chat.sees(/· Written to karst-s_\w+\.json/)
    await command(chat, "/cost", /· 2 runs · 30 tokens/)
  })
})
