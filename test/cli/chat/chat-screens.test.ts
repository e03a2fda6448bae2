// test lane: newcomer, long
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { waitUntil } from "../../providers/cli-machines.ts"
import { requires } from "../../system.ts"
import { modelServer } from "../karst.ts"
import { bin, cell, openChat, slowAnswer } from "./open-chat.ts"

/** Asserts that no line is wider than the window, as it is if the terminal itself wraps. */
function assertWidth(screen: string, columns: number): void {
  for (const line of screen.split("\n")) assert.ok(line.length < columns, line)
}

describe("the screen of karst chat", { skip: requires("tmux") }, () => {
  test("of 40 columns shows cells, tables, help and completions wrapped between words", async (t) => {
    const rows = "const rows = [{ name: 'apples from the garden', amount: 12, place: 'cellar' }]; rows"
    const table = "| fruit | count | place |\n|---|--:|---|\n| apples from the garden | 12 | in the cellar |"
    const chat = await openChat(
      t,
      [
        `I look at what you have given to me.\n\n${cell(rows)}`,
        `## Result\n\nThere are:\n\n${table}\n\n1. A long item that does not fit`,
      ],
      { size: [40, 70] },
    )
    chat.type("What is there in the cellar, and how much?", "Enter")
    await chat.sees(/✓ done · 2 cycles · 30 tokens/)
    assert.match(chat.screen(), /● I look at what you have given to me\.\n/)
    assert.match(chat.screen(), /│ const rows = \[/)
    assert.match(chat.screen(), / fruit +count +place\n/)
    assert.match(chat.screen(), /1\. A long item that does not fit/)
    assertWidth(chat.screen(), 40)
    chat.type("/help", "Enter")
    await chat.sees(/\/undo +goes back to before\n +the last cell: its\n/)
    chat.type("/vars", "Enter")
    await chat.sees(/❯ \/vars\nname +kind +type +size\n/)
    chat.type("/und")
    await chat.sees(/\/undo +goes back to before.*…/)
    assertWidth(chat.screen(), 40)
  })

  test("of 40 columns shows every key that answers the question for approval", async (t) => {
    const many = Array.from({ length: 40 }, (_, at) => `"file ${at}"`).join(",\n")
    const chat = await openChat(t, [cell(`await wipe(${many})`), "Kept."], {
      args: ["--agent", "./agents.ts#wiper"],
      size: [40, 30],
    })
    chat.type("Wipe them", "Enter")
    await chat.sees(/\? \d+ more lines of the call: space\s+shows them · n denies it/)
    // Keys count a moment after the question is on the screen.
    while (!/Allow this call\?/.test(chat.screen())) {
      chat.type("", "Space")
      await setTimeout(50)
    }
    await chat.sees(/\? Allow this call\? y yes · n no · a\s+always/)
    chat.type("n")
    await chat.sees(/● Kept\./)
    assert.doesNotMatch(chat.screen(), /always|denies it/)
    assertWidth(chat.screen(), 40)
  })

  test("that becomes narrow while an answer arrives shows all of it once, and wraps the rest", async (t) => {
    const slow = slowAnswer(
      "The first sentence of this long answer is wider than forty columns and ",
      "its rest arrives after the window has become narrow.\n\nEnd.",
    )
    const chat = await openChat(t, [slow.answer])
    chat.type("Tell me", "Enter")
    await chat.sees(/forty columns and/)
    chat.resize(40, 30)
    chat.type("draft")
    await chat.sees(/❯ draft/)
    slow.go()
    await chat.sees(/its rest arrives after[\s\S]*End\.\n\n✓ done[\s\S]*❯ draft/)
    assert.match(
      chat.screen().replaceAll(/\s+/g, " "),
      /its rest arrives after the window has become narrow\. End\. ✓ done/,
    )
    chat.resize(90, 30)
    await chat.sees(/● The first sentence of this long answer is wider than forty columns and\n/)
    assert.equal(chat.screen().match(/The first sentence|its rest|❯ draft/g)?.length, 3, chat.screen())
  })

  test("takes a paste of 2,000 lines, sends all of it and shows it folded", async (t) => {
    const chat = await openChat(t, ["Read."])
    const lines = Array.from({ length: 2000 }, (_, at) => `line ${at} of the pasted text`)
    const pasted = `\x1b[200~${lines.join("\n")}\x1b[201~`
    for (let at = 0; at < pasted.length; at += 4000) chat.type(pasted.slice(at, at + 4000))
    await chat.sees(/line 1999 of the pasted text/)
    assert.equal(chat.bodies.length, 0)
    chat.type("", "Enter")
    await chat.sees(
      /❯ line 0 of the pasted text\n[\s\S]*… 1,993 more lines\n[\s\S]*line 1999 of the pasted text\n\n● Read\./,
    )
    const [{ content }] = JSON.parse(chat.bodies[0] ?? "").messages.slice(-1)
    assert.ok(content.includes(lines.join("\n")))
  })

  test("shows the beginning and the end of 3 MB of output, and more on request", async (t) => {
    const chat = await openChat(t, [
      cell("console.log('x'.repeat(3_000_000))"),
      cell("for (let i = 0; i < 200_000; i++) console.log('line ' + i)"),
      "Long.",
    ])
    chat.type("Print", "Enter")
    await chat.sees(
      /└ line 0\n[\s\S]*… [\d,]+ more lines\n[\s\S]*line 199999\n· \/output shows more of it\.\n\n● Long\.\n\n✓ done/,
    )
    assertWidth(chat.screen(), 100)
    chat.type("/output", "Enter")
    await chat.sees(/^line 199980\n[\s\S]*line 199999\n\n❯ *$/m)
    chat.type("/show _output_2", "Enter")
    await chat.sees(/line 1999\n… about 2,\d{3},\d{3} more characters\n\n❯/)
    chat.type("/show _output_1", "Enter")
    await chat.sees(/x{90,}\n… about 2,\d{3},\d{3} more characters\n\n❯/)
  })
})

describe("a terminal that cannot move its cursor", { skip: requires("node-pty") }, () => {
  for (const [name, env] of [
    ["TERM=dumb", { TERM: "dumb" }],
    ["NO_COLOR and --plain", { TERM: "xterm-256color", NO_COLOR: "1" }],
  ] as const) {
    test(`${name}: the chat writes no colours and redraws nothing of an answer`, async (t) => {
      const chat = await openRawChat(t, [cell("const a = 1\na"), "It is **one**."], env)
      await chat.shows(/\/help\s+[\s\S]*❯ /)
      chat.type("What\r")
      await chat.shows(/● It is one\.\s+✓ done/)
      assert.match(chat.raw(), /│ const a = 1/)
      const answer = chat.raw().slice(chat.raw().indexOf("│ const a"), chat.raw().indexOf("✓ done"))
      assert.doesNotMatch(answer, /\x1b/)
      if (env.TERM === "dumb") assert.doesNotMatch(chat.raw(), /\x1b/)
      chat.type("/exit\r")
      await chat.shows(/Continue: karst chat --session/)
    })
  }
})

/** Starts the chat in a pseudo-terminal whose bytes are not interpreted. */
async function openRawChat(t: TestContext, answers: string[], env: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), "karst-raw-chat-"))
  const { id } = await modelServer(t, answers)
  const { spawn } = createRequire(import.meta.url)("node-pty")
  const { PATH = "", HOME = "" } = process.env
  const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]
  const plain = env.TERM === "dumb" ? [] : ["--plain"]
  const pty = spawn(process.execPath, [...flags, bin, "chat", "--model", id, ...plain], {
    cols: 80,
    rows: 30,
    cwd: folder,
    env: { PATH, HOME, LANG: "C.UTF-8", KARST_HOME: join(folder, "home"), ...env },
  })
  let shown = ""
  pty.onData((text: string) => {
    shown += text
  })
  t.after(async () => {
    pty.kill("SIGKILL")
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return {
    raw: () => shown,
    type: (text: string) => pty.write(text),
    shows: (text: RegExp) =>
      waitUntil(`${text} is shown`, () => text.test(shown)).catch((error: Error) => {
        throw new Error(`${error.message} It shows:\n${JSON.stringify(shown.slice(-2000))}`)
      }),
  }
}
