// The chat in a terminal: reads keys, edits the prompt, shows runs, and asks for approvals. `karst chat` starts it.
import { StringDecoder } from "node:string_decoder"
import type { Run } from "../../core/agent.ts"
import { errorData } from "../../core/errors.ts"
import type { AgentEvent, EventOf } from "../../core/event.ts"
import { type Message, messageText } from "../../core/message.ts"
import { allowReadersToApprove } from "../../core/run-approvals.ts"
import { createFullView, maxOutputLines } from "../../display/full-view.ts"
import { safeText } from "../../display/safe-text.ts"
import { createStatusLine } from "../../display/status-line.ts"
import { writeNote } from "../../display/stream-writers.ts"
import { wrapText } from "../../display/text-flow.ts"
import { truncateToWidth } from "../../display/text-width.ts"
import { holdTerminal, type UserTerminal } from "../../providers/terminal/user-terminal.ts"
import { type ApprovalPrompt, askForApproval } from "./approval-prompt.ts"
import { type Chat, errorText } from "./chat.ts"
import type { InputHistory } from "./history.ts"
import { createImageView } from "./images.ts"
import { createInputLine } from "./input-line.ts"
import { createKeyReader, type Key } from "./keys.ts"
import { createLiveScreen } from "./live-screen.ts"
import { mentionedFiles, readMentions } from "./mentions.ts"
import { answerTo } from "./question-answer.ts"
import { runSlash } from "./slash-actions.ts"
import { parseSlash } from "./slash-commands.ts"

export interface TerminalChatOptions {
  color: boolean
  /** The folder that `@file` starts from. */
  cwd: string
  history: InputHistory
  /** Written first. */
  header: string
  /** The events of an earlier run to show first. */
  earlier: readonly AgentEvent[]
}

/** Runs the chat until the person leaves. */
export async function chatInTerminal(chat: Chat, terminal: UserTerminal, options: TerminalChatOptions): Promise<void> {
  const { color, cwd, history } = options
  const screen = createLiveScreen(terminal.output, { color })
  const { paint } = screen
  const line = createInputLine({ screen, history, cwd })
  const showImage = createImageView(screen, process.env)
  const leaving = Promise.withResolvers<void>()
  const approvals: { event: EventOf<"approval-requested">; run: Run }[] = []
  let approval: { prompt: ApprovalPrompt; run: Run; acceptsFrom: number } | undefined
  /** Texts that were sent during the run and that the model has not received yet. */
  let unreceived: string[] = []
  /** Prompts and commands that were sent while no run was active and other work was. They are submitted after it. */
  const queued: string[] = []
  let active: Run | undefined
  let isBusy = false
  let leaveOnNextInterrupt = false
  /** A prompt was sent, and its run has not begun: the mentioned files are being read. */
  let isPreparing = false
  let isAborting = false
  let isFirstInput = true

  const note = (text: string, paintText = paint.dim) => writeNote(screen, "· ", safeText(text), paintText)

  function drawInput() {
    if (approval) {
      const hint = wrapText(approval.prompt.hint(), screen.columns - 2)
      return { lines: hint.map((text, at) => `${at === 0 ? paint.yellow("?") : " "} ${text}`), row: 0, column: 0 }
    }
    const layout = line.layout(leaveOnNextInterrupt ? "Ctrl-C again leaves the chat." : undefined)
    const notes = unreceived.map((text) =>
      paint.dim(truncateToWidth(`↳ ${text.replaceAll("\n", " ")}`, screen.columns)),
    )
    return { ...layout, lines: [...notes, ...layout.lines], row: layout.row + notes.length }
  }

  function askNext(): void {
    const next = approval ? undefined : approvals.shift()
    if (next) {
      const { event, run } = next
      // Keys that were pressed before the question was on the screen do not answer it.
      approval = { prompt: askForApproval(event, run, screen), run, acceptsFrom: Date.now() + settleMs }
      screen.setStatus(undefined)
    }
    screen.redraw()
  }

  function answerApproval(key: Key): void {
    if (!approval || Date.now() < approval.acceptsFrom) return
    const { prompt, run } = approval
    const decision = prompt.press(key)
    if (decision === undefined) return screen.redraw()
    approval = undefined
    try {
      run.approve(prompt.id, decision)
    } catch {
      // Another reader has answered; that answer counts.
    }
    askNext()
  }

  async function follow(run: Run): Promise<void> {
    allowReadersToApprove(run)
    active = run
    if (isAborting) run.abort("Interrupted.")
    const show = createFullView(screen, run.id)
    const progress = createStatusLine(screen, run.id)
    for await (const event of run) {
      chat.observe(event)
      show(event)
      progress(event)
      if (event.type === "code-end" || event.type === "tool-end") await showRest(event, run)
      if (event.type === "approval-requested" && !event.answerer) {
        approvals.push({ event, run })
        askNext()
      }
      if (event.type === "approval-resolved") withdrawApproval(event.id)
      if (event.type === "prompt-steered" && event.run === run.id) removeReceived(event.message)
      // From now on, what is sent is the next prompt.
      if (event.type === "run-end" && event.run === run.id) active = undefined
    }
    approvals.splice(0)
    approval = undefined
    if (unreceived.length > 0) note("What you wrote came after the last step. It goes with your next prompt.")
    unreceived = []
  }

  /** Writes the images of a cell or tool, and how to see output that was cut. */
  async function showRest(event: EventOf<"code-end" | "tool-end">, run: Run): Promise<void> {
    if (event.run !== run.id) return
    if (chat.lastOutput.split("\n").length > maxOutputLines) note("/output shows more of it.")
    for (const image of event.images ?? []) await showImage(image)
  }

  function withdrawApproval(id: string): void {
    const at = approvals.findIndex(({ event }) => event.id === id)
    if (at !== -1) approvals.splice(at, 1)
    if (approval?.prompt.id === id) approval = undefined
    askNext()
  }

  function removeReceived(message: Message): void {
    const at = unreceived.indexOf(messageText(message))
    if (at !== -1) unreceived.splice(at, 1)
  }

  /** Starts work that a key asked for. Its errors are shown, and the chat goes on. */
  function start(work: () => Promise<void>): void {
    isBusy = true
    void work()
      .catch((error: unknown) => writeNote(screen, "✗ ", safeText(errorText(error)), paint.red))
      .finally(() => {
        isBusy = false
        isPreparing = false
        isAborting = false
        active = undefined
        screen.setStatus(undefined)
        screen.ensureBlankLine()
        const next = queued.shift()
        if (next !== undefined) submit(next)
      })
  }

  function submit(text: string): void {
    const slash = parseSlash(text)
    if (slash && "problem" in slash) return note(slash.problem, paint.yellow)
    if (slash) return startSlash(slash.name, slash.argument)
    if (active) return steer(active, text)
    if (isBusy) return void queued.push(text)
    const { question } = chat
    const answer = question ? answerTo(question, text) : { answer: text }
    if ("problem" in answer) return note(answer.problem, paint.yellow)
    isPreparing = true
    start(async () => {
      const { prompt, problems } = await readMentions(answer.answer, cwd)
      for (const problem of problems) note(problem, paint.yellow)
      isPreparing = false
      await follow(chat.send(prompt))
    })
  }

  function steer(run: Run, text: string): void {
    try {
      run.steer(text)
      unreceived.push(text)
      screen.redraw()
      // A message during a run is text only.
      void mentionedFiles(text, cwd).then(([first]) => {
        if (first) note(`During a run only the name of @${first.path} is sent, and not its content.`, paint.yellow)
      })
    } catch (error) {
      // Not every coding CLI accepts a message during a run.
      note(errorData(error).message, paint.yellow)
      line.set(text)
    }
  }

  function startSlash(name: Parameters<typeof runSlash>[0], argument: string): void {
    const run = async () => {
      screen.writeLines(paint.bold(`❯ /${name}${argument === "" ? "" : ` ${argument}`}`))
      const effect = await runSlash(name, argument, chat, screen)
      if (effect?.edit !== undefined) line.set(effect.edit)
      if (effect?.leave) leaving.resolve()
    }
    // During a run, the run goes on and the command only shows something.
    if (!active && isBusy) return void queued.push(`/${name} ${argument}`)
    if (!active) return start(run)
    void run().catch((error: unknown) => writeNote(screen, "✗ ", safeText(errorText(error)), paint.red))
  }

  function interrupt(): void {
    if ((active || isPreparing) && !isAborting) {
      isAborting = true
      active?.abort("Interrupted.")
      return
    }
    if (!active && line.clear()) return screen.redraw()
    if (leaveOnNextInterrupt || active || isPreparing) return leaving.resolve()
    leaveOnNextInterrupt = true
    screen.redraw()
  }

  function press(key: Key): void {
    if (key.type === "key" && key.name === "interrupt") return interrupt()
    leaveOnNextInterrupt = false
    const isEnd = key.type === "key" && key.name === "end-of-input"
    if (approval && !isEnd) return answerApproval(key)
    if (key.type === "key" && key.name === "clear-screen") return screen.clear()
    // While a call waits for approval, the line is not shown, and Ctrl-D cannot be meant for it.
    if (isEnd && (line.isEmpty || approval)) {
      active?.abort("The chat was left.")
      return leaving.resolve()
    }
    const sent = line.press(key)
    if (sent !== undefined) {
      history.add(sent)
      submit(sent)
    }
    screen.redraw()
  }

  const decoder = new StringDecoder("utf8")
  const keys = createKeyReader(press)
  const held = holdTerminal(terminal, {
    onInput(bytes) {
      const text = decoder.write(bytes)
      // Enter was another character while the terminal edited the lines itself.
      keys.read(isFirstInput ? text.replaceAll("\n", "\r") : text)
      isFirstInput = false
    },
    onResize: screen.resized,
    onInterrupt(done) {
      chat.session.running?.abort("The terminal was closed.")
      leaving.resolve()
      done()
    },
    restoreSequence: () => "\x1b[?2004l\x1b[?25h",
  })
  try {
    terminal.output.write("\x1b[?2004h")
    writeNote(screen, "", options.header, paint.dim)
    showEarlier(options.earlier, screen)
    screen.ensureBlankLine()
    screen.setInput(drawInput)
    await leaving.promise
  } finally {
    keys.end()
    screen.close()
    held.release()
  }
}

// A person needs longer than this to read a question.
const settleMs = 300

function showEarlier(events: readonly AgentEvent[], screen: Parameters<typeof createFullView>[0]): void {
  const [first] = events
  if (!first) return
  const show = createFullView(screen, first.run)
  for (const event of events) show(event)
}
