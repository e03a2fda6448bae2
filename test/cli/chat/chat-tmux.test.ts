// test lane: newcomer, long
import assert from "node:assert/strict"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { requires } from "../../system.ts"
import { cell, openChat, slowAnswer, toolAnswer } from "./open-chat.ts"

describe("karst chat in a terminal", { skip: requires("tmux") }, () => {
  test("a prompt runs cells, its variables are shown, undone and gone", async (t) => {
    const rows = "const rows = [{ name: 'apples', amount: 12 }, { name: 'pears', amount: 3 }]"
    const chat = await openChat(t, [
      cell(rows),
      "There are:\n\n| fruit | count |\n|---|--:|\n| apples | 12 |\n\nSee [docs](https://karst.dev).",
    ])
    assert.match(chat.screen(), /^karst · openai-compatible\/test · cells /m)
    chat.type("What is there?", "Enter")
    await chat.sees(/✓ done · 2 cycles/)
    assert.match(chat.screen(), /❯ What is there\?\n\n {2}│ const rows/)
    assert.match(
      chat.screen(),
      /● There are:\n\n {2}fruit {3}count\n {2}─+ {2}─+\n {2}apples {5}12\n\n {2}See docs \(https:/,
    )
    chat.type("/show rows", "Enter")
    await chat.sees(/❯ \/show rows\nname {4}amount\n─+ {2}─+\napples {6}12\npears {8}3\n/)
    chat.type("/vars", "Enter")
    await chat.sees(/rows {2}variable/)
    chat.type("/undo", "Enter")
    await chat.sees(/Undone: the last cell and what followed/)
    // The whole run was undone, so its prompt can be edited and sent again.
    await chat.sees(/❯ What is there\?\s*$/)
    chat.type("", "C-u")
    chat.type("/vars", "Enter")
    await chat.sees("There are no variables yet.")
  })

  test("what is typed during a run reaches the model, and Ctrl-C aborts, clears and leaves", async (t) => {
    const slow = slowAnswer("One moment, ", "please.")
    const endless = slowAnswer("Thinking … ", "")
    const chat = await openChat(t, [slow.answer, "I hurry.", endless.answer])
    chat.type("Go", "Enter")
    await chat.sees("● One moment,")
    chat.type("hurry up", "Enter")
    await chat.sees("↳ hurry up")
    slow.go()
    await chat.sees(/❯ hurry up\n\n● I hurry\./)
    assert.match(chat.bodies[1] ?? "", /hurry up/)
    await chat.sees(/✓ done/)
    chat.type("again", "Enter")
    await chat.sees("● Thinking")
    chat.type("", "C-c")
    await chat.sees(/■ aborted/)
    chat.type("a line", "C-c")
    await chat.sees(/❯\s*$/)
    chat.type("", "C-c")
    await chat.sees("Ctrl-C again leaves the chat.")
    chat.type("", "C-c")
    await chat.sees(/Continue: karst chat --session s_\w+/)
    assert.deepEqual(chat.state(), { otherScreen: false, cursor: true, mouse: false })
    // The shell has its terminal back.
    chat.type("echo af''ter", "Enter")
    await chat.sees(/after$/m)
  })

  test("lines are joined by a backslash, Alt-Enter and paste, and history lasts across chats", async (t) => {
    const chat = await openChat(t, ["Fine."])
    chat.type("one\\", "Enter")
    chat.type("two", "M-Enter")
    chat.type("\x1b[200~three\r\nfour\x1b[201~")
    await chat.sees(/❯ one\n {2}two\n {2}three\n {2}four/)
    chat.type("", "Enter")
    await chat.sees(/✓ done/)
    assert.match(chat.bodies[0] ?? "", /one\\ntwo\\nthree\\nfour/)
    chat.type("", "C-d")
    await chat.sees(/Continue: karst chat/)
    chat.start("--session", "last")
    await chat.sees(/● Fine\.\n\n✓ done[^\n]*\n\n❯ *$/m)
    chat.type("", "Up")
    await chat.sees(/❯ one\n {2}two\n {2}three\n {2}four\s*$/)
    assert.match(await readFile(join(chat.home, "chat-history.jsonl"), "utf8"), /^"one\\ntwo\\nthree\\nfour"\n$/)
  })

  test("a line that was sent before the chat was ready is its first prompt", async (t) => {
    const chat = await openChat(t, ["Early."])
    chat.type("", "C-d")
    await chat.sees(/^# *$/m)
    chat.start()
    chat.type("hello", "Enter")
    await chat.sees(/❯ hello\n\n● Early\./)
  })

  test("a call is allowed with one key after all of it was shown, and early keys do not count", async (t) => {
    const many = Array.from({ length: 40 }, (_, at) => `"file ${at}"`).join(",\n")
    // The call is shown in full, and after /undo the chat says that it stays done.
    const chat = await openChat(t, [cell(`await wipe(${many})`), "Gone.", cell("await wipe('x')"), "Kept."], {
      args: ["--agent", "./agents.ts#wiper"],
    })
    chat.type("Wipe them", "Enter")
    await chat.sees(/more lines of the call: space shows them/)
    // The first keys are too early, and y counts only after the last line.
    while (!/Allow this call\?/.test(chat.screen())) {
      chat.type("y")
      chat.type("", "Space")
      await setTimeout(50)
    }
    await chat.sees(/\? Allow this call\? y yes · n no · a always/)
    assert.match(chat.screen(), /"file 39"/)
    chat.type("y")
    await chat.sees(/approved \(allow\)/)
    await chat.sees(/✓ done/)
    chat.type("/undo", "Enter")
    await chat.sees(/! What stays done: wipe\("file 0"/)
    chat.type("", "C-u")
    chat.type("And x", "Enter")
    await chat.sees(/\? wipe\("x"\)/)
    // Keys count a moment after the question is on the screen.
    while (!/✗ denied/.test(chat.screen())) {
      chat.type("n")
      await setTimeout(50)
    }
    await chat.sees(/● Kept\./)
  })

  test("a question shows its options and a number answers it", async (t) => {
    const chat = await openChat(t, [toolAnswer, "Green it is."], { args: ["--agent", "./agents.ts#asker"] })
    chat.type("Paint", "Enter")
    await chat.sees(/\? Which colour\?\n {4}1\. red\n {4}2\. green\n/)
    await chat.sees(/waiting for an answer/)
    chat.type("2", "Enter")
    await chat.sees(/❯ green\n\n● Green it is\./)
    assert.match(chat.bodies[1] ?? "", /green/)
  })

  test("commands and files are completed, misspelt commands are answered, and files are sent", async (t) => {
    const chat = await openChat(t, ["Read."])
    await writeFile(join(chat.folder, "notes.md"), "Remember the milk.")
    chat.type("/und")
    await chat.sees(/\/undo +goes back to before the last cell/)
    chat.type("", "Tab", "C-u")
    chat.type("/undoo", "Enter")
    await chat.sees("There is no command /undoo. Did you mean /undo?")
    chat.type("What says @no")
    await chat.sees(/^ {2}@notes\.md/m)
    chat.type("", "Tab")
    await chat.sees(/❯ What says @notes\.md/)
    chat.type("?", "Enter")
    await chat.sees(/✓ done/)
    assert.match(chat.bodies[0] ?? "", /Remember the milk\./)
    assert.doesNotMatch(chat.screen(), /milk/)
  })

  test("a window of 40 columns, its change and wide characters are drawn without a trace", async (t) => {
    const chat = await openChat(t, ["Short. 日本語の文章は空白がなくても折り返されます。"], { size: [40, 24] })
    chat.type("これは四十桁よりも長い入力行です、折り返されるはずです。")
    await chat.sees(/❯ これは四十桁よりも長い入力行です、折\n {2}り返されるはずです。/)
    chat.resize(60, 24)
    await chat.sees(/❯ これは四十桁よりも長い入力行です、折り返されるはずです。\n/)
    chat.resize(30, 24)
    await chat.sees(/❯ これは四十桁よりも長い入力\n {2}行です、折り返されるはずで\n {2}す。/)
    assert.equal(chat.screen().match(/これは/g)?.length, 1, chat.screen())
    chat.type("", "Enter")
    await chat.sees(/✓ done/)
    for (const line of chat.screen().split("\n")) assert.ok(line.length <= 30, line)
  })

  test("text of the model cannot command the terminal, and NO_COLOR leaves no colours", async (t) => {
    const evil = "\x1b[2J\x1b]0;owned\x07\x1b[?1049hHarmless.\x9b31m"
    const chat = await openChat(t, [evil], { env: { NO_COLOR: "1" } })
    chat.type("Hi", "Enter")
    await chat.sees(/● Harmless\.\n\n✓ done/)
    assert.equal(chat.state().otherScreen, false)
    assert.match(chat.screen(), /❯ Hi/)
  })
})
