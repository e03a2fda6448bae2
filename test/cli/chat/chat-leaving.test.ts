// test lane: newcomer, long
import assert from "node:assert/strict"
import { describe, type TestContext, test } from "node:test"
import { requires } from "../../system.ts"
import { type ChatWindow, cell, openChat, slowAnswer, toolAnswer } from "./open-chat.ts"

type Answers = Parameters<typeof openChat>[1]

interface State {
  answers: Answers
  agent?: string
  /** What is typed, and what the screen shows then. */
  typed?: string
  sees: string | RegExp
  /** True if the first Ctrl-C aborts a run. */
  isRunning?: boolean
}

const states: Record<string, State> = {
  idle: { answers: ["Hi."], sees: "/help" },
  "running, before the first word": { answers: [() => {}], typed: "Go", sees: /❯ Go\n/, isRunning: true },
  "running, during an answer": {
    answers: [slowAnswer("The beginning of it ", "").answer],
    typed: "Go",
    sees: "The beginning of",
    isRunning: true,
  },
  "running, during a cell": {
    answers: [cell("await new Promise((resolve) => setTimeout(resolve, 50_000))")],
    typed: "Go",
    sees: "50_000",
    isRunning: true,
  },
  approving: {
    answers: [cell('await wipe("a")'), "Done."],
    agent: "./agents.ts#wiper",
    typed: "Wipe",
    sees: "Allow this call?",
    isRunning: true,
  },
  asking: { answers: [toolAnswer], agent: "./agents.ts#asker", typed: "Paint", sees: /waiting for an answer/ },
  "after /compact": { answers: ["Hi."], typed: "/compact", sees: "too short" },
  "after /fork": { answers: ["Hi."], typed: "/fork", sees: "You are now in a copy." },
  "after /resume": { answers: ["Hi."], typed: "/resume last", sees: "There are no sessions" },
}

async function open(t: TestContext, { answers, agent, typed, sees }: State): Promise<ChatWindow> {
  const args = [...(agent === undefined ? [] : ["--agent", agent]), "; echo le''ft $?"]
  const chat = await openChat(t, answers, { args })
  if (typed !== undefined) chat.type(typed, "Enter")
  await chat.sees(sees)
  return chat
}

async function isLeft(chat: ChatWindow): Promise<void> {
  await chat.sees(/^left 0$/m)
  assert.deepEqual(chat.state(), { otherScreen: false, cursor: true, mouse: false })
}

describe("karst chat in a terminal", { skip: requires("tmux") }, () => {
  for (const [name, state] of Object.entries(states)) {
    test(`is left with Ctrl-D: ${name}`, async (t) => {
      const chat = await open(t, state)
      chat.type("", "C-d")
      await isLeft(chat)
    })

    test(`${state.isRunning ? "aborts the run" : "asks again"} with Ctrl-C, and is then left: ${name}`, async (t) => {
      const chat = await open(t, state)
      if (state.isRunning) {
        chat.type("", "C-c")
        await chat.sees("■ aborted")
      }
      chat.type("", "C-c")
      await chat.sees("Ctrl-C again leaves the chat.")
      chat.type("", "C-c")
      await isLeft(chat)
    })
  }

  test("keeps what is typed at Ctrl-D, and clears it at Ctrl-C", async (t) => {
    const chat = await open(t, { answers: ["Hi."], sees: "/help" })
    chat.type("some words", "C-d")
    await chat.sees(/❯ some words\s*$/m)
    chat.type("", "C-c")
    await chat.sees(/\/help\s+❯ *$/m)
    chat.type("", "C-d")
    await isLeft(chat)
  })
})
