import assert from "node:assert/strict"
import { mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, test } from "node:test"
import { askForApproval } from "../../../src/cli/chat/approval-prompt.ts"
import { createHistory, openHistory } from "../../../src/cli/chat/history.ts"
import { createImageView, kittySequence } from "../../../src/cli/chat/images.ts"
import type { Key } from "../../../src/cli/chat/keys.ts"
import { createLiveScreen } from "../../../src/cli/chat/live-screen.ts"
import { commonStart, completePath, mentionAt, readMentions } from "../../../src/cli/chat/mentions.ts"
import { answerTo } from "../../../src/cli/chat/question-answer.ts"
import { drawData } from "../../../src/cli/chat/show-data.ts"
import { effectsOf } from "../../../src/cli/chat/slash-actions.ts"
import { completeSlash, parseSlash } from "../../../src/cli/chat/slash-commands.ts"
import type { AgentEvent, EventBody } from "../../../src/core/event.ts"
import { createPalette } from "../../../src/display/paint.ts"
import { textWidth } from "../../../src/display/text-width.ts"

const plain = createPalette(false)
const typed = (text: string): Key => ({ type: "text", text })

describe("commands with a slash", () => {
  test("have a name and an argument, misspelt ones are answered, and paths are no commands", () => {
    assert.deepEqual(parseSlash("/show  rows "), { name: "show", argument: "rows" })
    assert.deepEqual(parseSlash("/undo"), { name: "undo", argument: "" })
    assert.deepEqual(parseSlash("/modle x"), {
      problem: "There is no command /modle. Did you mean /model? /help lists them.",
    })
    assert.equal(parseSlash("/etc/hosts has a mistake"), undefined)
    assert.equal(parseSlash("a / b"), undefined)
    assert.deepEqual(completeSlash("/s"), ["/show", "/save", "/skills"])
    assert.deepEqual(completeSlash("/show x"), [])
  })

  test("/undo names what stays: calls, tools and objects of the program", () => {
    const call = { binding: "light", method: "dim", args: "20" }
    const changes = { created: [], reassigned: [], removed: [], used: ["light"] }
    const events: EventBody[] = [
      { type: "call-start", id: "k", within: "c", call },
      { type: "call-start", id: "k2", within: "c", call },
      { type: "code-end", id: "c", ok: true, text: "", durationMs: 1, calls: 2, changes },
      { type: "tool-start", id: "t", name: "write_file", input: { path: "a.txt" } },
    ]
    const stamped = events.map((event, seq): AgentEvent => ({ ...event, run: "r", seq, at: 0 }))
    assert.deepEqual(effectsOf(stamped), ["light.dim(20)", "changes of light", 'write_file({"path":"a.txt"})'])
  })
})

describe("mentions of files", () => {
  test("are found at the cursor, but not in addresses", () => {
    assert.deepEqual(mentionAt("see @src/a", 10), { start: 4, path: "src/a" })
    assert.deepEqual(mentionAt("@", 1), { start: 0, path: "" })
    assert.equal(mentionAt("ada@example.org", 15), undefined)
    assert.equal(mentionAt("see @src now", 12), undefined)
    assert.equal(commonStart(["src/app.ts", "src/api.ts"]), "src/ap")
  })

  test("are completed, and put the contents of files and images into the prompt", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "karst-mentions-"))
    t.after(() => rm(folder, { recursive: true, force: true }))
    await mkdir(join(folder, "src"))
    await writeFile(join(folder, "src", "app.ts"), "export {}")
    await writeFile(join(folder, "two words.txt"), "hello")
    await writeFile(join(folder, "dot.gif"), "GIF89a\u0001\u0000")
    await writeFile(join(folder, "data.bin"), "a\u0000b")
    assert.deepEqual(await completePath("s", folder), ["src/"])
    assert.deepEqual(await completePath("src/a", folder), ["src/app.ts"])
    assert.deepEqual(await completePath("nowhere/", folder), [])
    const { prompt, problems } = await readMentions(
      '@src/app.ts @"two words.txt" @dot.gif @data.bin @deprecated',
      folder,
    )
    assert.ok(Array.isArray(prompt))
    assert.deepEqual(
      prompt.slice(1).map((part) => (part.type === "text" ? part.text : part.mediaType)),
      ['<file path="src/app.ts">\nexport {}\n</file>', '<file path="two words.txt">\nhello\n</file>', "image/gif"],
    )
    assert.match(problems.join(), /@data\.bin is neither text nor an image/)
    await writeFile(join(folder, "notes.md"), "x")
    await truncate(join(folder, "notes.md"), 30_000_000)
    const huge = await readMentions("@notes.md", folder)
    assert.deepEqual(huge, { prompt: "@notes.md", problems: [huge.problems[0]] })
    assert.match(huge.problems[0] ?? "", /@notes\.md is too long to send \(30000000 bytes/)
    assert.deepEqual(await readMentions("no files", folder), { prompt: "no files", problems: [] })
  })

  test("of files outside of the folder are named, because pasted text may have them; there are at most 20", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "karst-mentions-"))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const project = join(folder, "project")
    await mkdir(project)
    await writeFile(join(folder, "secret.txt"), "s3cret")
    await symlink("../secret.txt", join(project, "link.txt"))
    for (const path of ["../secret.txt", join(folder, "secret.txt"), "link.txt"]) {
      const { problems } = await readMentions(`pasted @${path}`, project)
      assert.deepEqual(problems, [`The content of @${path}, which is outside of this folder, is sent.`])
    }
    const names = Array.from({ length: 30 }, (_, index) => `${index}.txt`)
    for (const name of names) await writeFile(join(project, name), "x")
    const { prompt, problems } = await readMentions(names.map((name) => `@${name}`).join(" "), project)
    assert.equal(prompt.length, 21)
    assert.deepEqual(problems, ["A prompt can have 20 files. The contents of @20.txt and later ones are not sent."])
  })
})

describe("the history", () => {
  test("goes back and forth, and returns to what was being written", () => {
    const stored: string[] = []
    const history = createHistory(["one", "two"], (text) => void stored.push(text))
    history.add("two")
    history.add("three")
    assert.deepEqual(stored, ["three"])
    assert.equal(history.older("draft"), "three")
    assert.equal(history.older("three"), "two")
    assert.equal(history.newer(), "three")
    assert.equal(history.newer(), "draft")
    assert.equal(history.newer(), undefined)
    for (const text of ["three", "two", "one", undefined]) assert.equal(history.older(""), text)
  })

  test("survives damaged lines and a file that cannot be written", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "karst-history-"))
    t.after(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, "history"), '"good"\nnot json\n{"a":1}\n')
    const history = await openHistory(join(folder, "history"))
    assert.equal(history.older(""), "good")
    const unwritable = await openHistory(folder)
    unwritable.add("x")
    assert.equal(unwritable.older(""), "x")
  })
})

describe("answers to a question", () => {
  const question = { question: "Which?", options: ["red", "green"] }
  test("are the option of a number, its word, or another text", () => {
    assert.deepEqual(answerTo(question, "2"), { answer: "green" })
    assert.deepEqual(answerTo(question, "RED"), { answer: "red" })
    assert.deepEqual(answerTo(question, "blue"), { answer: "blue" })
    assert.deepEqual(answerTo({ question: "How many?" }, "7"), { answer: "7" })
    assert.deepEqual(answerTo({ ...question, multiple: true }, "1, 2"), { answer: "red, green" })
    assert.match(JSON.stringify(answerTo({ ...question, custom: false }, "9")), /a number from 1 to 2/)
  })
})

describe("values", () => {
  test("are tables if they are rows, charts if they are numbers, and text otherwise", () => {
    assert.deepEqual(drawData([{ a: 1, b: "x" }, { a: 22 }], 40, plain), [" a  b", "──  ─", " 1  x", "22"])
    assert.match(drawData({ Mon: 1, Tue: 2 }, 20, plain).join("\n"), /^Mon █+.* 1\nTue █+ 2$/)
    assert.match(drawData({ labels: ["p", "q"], values: [3, 1] }, 20, plain).join("\n"), /^p █+ 3\nq █+.* 1$/)
    assert.deepEqual(drawData({ a: "x", when: 1 }, 40, plain), ["{ a: 'x', when: 1 }"])
    assert.match(
      drawData(
        Array.from({ length: 30 }, (_, id) => ({ id, on: true })),
        40,
        plain,
      ).at(-1) ?? "",
      /… 10 more rows/,
    )
  })

  test("cannot command the terminal and fit its width", () => {
    const evil = "\x1b[2J\x9b31m long words that need more than one line"
    for (const value of [evil, [{ [evil]: evil, b: evil }], { [evil]: 1, b: 2 }, [evil]]) {
      for (const line of drawData(value, 40, plain)) {
        assert.doesNotMatch(line, /[\x00-\x1f\x7f-\x9f]/)
        assert.ok(textWidth(line) <= 40, line)
      }
    }
  })
})

describe("images", () => {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAEUlEQVR4nGP8z8Dwn4GBgQEADQoCAJ5Hh3QAAAAASUVORK5CYII=",
    "base64",
  )
  const image = { type: "image" as const, mediaType: "image/png", data: png.toString("base64") }

  async function shownIn(env: NodeJS.ProcessEnv): Promise<string> {
    let written = ""
    const output = {
      columns: 200,
      rows: 24,
      write(text: string) {
        written += text
      },
    }
    const screen = createLiveScreen(output, { color: false })
    await createImageView(screen, env)(image)
    screen.close()
    return written
  }

  test("are drawn where Kitty's protocol is supported, and files elsewhere", async () => {
    const [, data] =
      /\x1b_Ga=T,f=100,q=2,C=1,c=1,r=1,m=0;([^\x1b]+)\x1b\\/.exec(await shownIn({ TERM: "xterm-kitty" })) ?? []
    assert.equal(data, image.data)
    for (const env of [{ TERM: "xterm" }, { TERM: "xterm-kitty", TMUX: "1" }]) {
      const [, path = ""] = /\[image: 2 × 1 pixels, written to (\S+)\]/.exec(await shownIn(env)) ?? []
      assert.deepEqual(await readFile(path), png)
      await rm(dirname(path), { recursive: true })
    }
  })

  test("of any length are sent in pieces that are put together again", () => {
    const bytes = Buffer.alloc(10_000, 7)
    const pieces = [...kittySequence(bytes, 4, 2).matchAll(/\x1b_G([^;]*);([^\x1b]*)\x1b\\/g)]
    assert.deepEqual(Buffer.from(pieces.map(([, , data]) => data).join(""), "base64"), bytes)
    assert.deepEqual(
      pieces.map(([, keys = ""]) => keys.slice(-3)),
      ["m=1", "m=1", "m=1", "m=0"],
    )
  })
})

describe("the question for approval", () => {
  function ask(lines: number) {
    const written: string[] = []
    const output = { columns: 60, rows: 12, write: (text: string) => void written.push(text) }
    const screen = createLiveScreen(output, { color: false })
    const text = ["wipe(", ...Array.from({ length: lines }, (_, at) => `  ${at},`), ")"].join("\n")
    const event = {
      type: "approval-requested" as const,
      id: "k",
      call: { binding: "wipe", args: "" },
      run: "r",
      seq: 0,
      at: 0,
    }
    const prompt = askForApproval(event, { pendingCall: () => text }, screen)
    const shown = () => {
      screen.close()
      return written.join("")
    }
    return { prompt, shown }
  }

  test("is answered with one key, by yes and always only when the whole call was shown", () => {
    const { prompt, shown } = ask(10)
    for (const key of ["y", "a", "x"]) assert.equal(prompt.press(typed(key)), undefined)
    assert.match(prompt.hint(), /5 more lines of the call/)
    prompt.press(typed(" "))
    assert.match(prompt.hint(), /Allow this call\?/)
    assert.equal(prompt.press(typed("x")), undefined)
    assert.equal(prompt.press(typed("y")), "allow")
    assert.equal(prompt.press(typed("a")), "always")
    for (let at = 0; at < 10; at++) assert.match(shown(), new RegExp(` ${at},`))
  })

  test("is denied at any time", () => {
    assert.equal(ask(10).prompt.press(typed("n")), "deny")
    assert.equal(ask(10).prompt.press({ type: "key", name: "escape" }), "deny")
    assert.equal(ask(0).prompt.press({ type: "paste", text: "y" }), undefined)
  })
})
