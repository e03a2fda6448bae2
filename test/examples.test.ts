// test lane: unit, long
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { existsSync, globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { describe, test } from "node:test"
import { promisify } from "node:util"
import { examplePlans } from "./fixtures/example-plans.ts"
import { createPlannedCliMachine } from "./providers/planned-clis.ts"
import { requires } from "./system.ts"

const root = dirname(import.meta.dirname)
const examples = globSync("examples/*.ts", { cwd: root }).sort()

// What some need of the machine beside Node.
const skips: Record<string, string | undefined> = {
  "examples/10-pandas.ts": requires("python", "pandas"),
  "examples/35-bullmq.ts": requires("redis"),
}

// Of what each prints, what only comes when it did what it shows.
const shows: Record<string, RegExp> = {
  "01-hello": /^20$/m,
  "02-live-objects": /'kitchen → 22 °C', 'study → 22 °C'/,
  "03-session": /\{ name: 'buy groceries', done: true \}/,
  "04-streaming": /⎿ ok in \d+ ms: <output> largest 100 385 \(new: squares: number\[\] \(10\)\) <\/output>/,
  "05-types": /TypeError: Invalid input of book: amount: .*>0/,
  "06-rules": /line 1, column 1: the module "node:child_process" is not allowed/,
  "07-database-and-charts": /^03-03 █{40} 26\.0$/m,
  "08-process-runtime": /closed days, in your own connection: .*\{ days: 1 \}/,
  "09-surviving-a-crash":
    /^crash: [\s\S]*The session was started again\.[\s\S]*^timeout: [\s\S]*^memory: [\s\S]*^\[ 1, 2, 3 \]$/m,
  "10-pandas": /asked of the Python object: 221\.2/,
  "11-rollback": /^undone: 2 \{ owner: 'Grace', balance: 80 \}$/m,
  "12-type-gate": /^not run \(type\): [\s\S]*Did you mean 'name'\?[\s\S]*^mails so far: 0/m,
  "13-compaction": /summarised older messages: [\d,]+ → [\d,]+ characters/,
  "14-skills": /^activated: \[ 'data-analysis', 'reporting' \]$/m,
  "15-orchestrator": /^means: \{ Oslo: -4, Rome: 13 \}$/m,
  "16-shared-runtime": /items, counted twice: \{ items: 40 \}/,
  "17-parallel-batch": /^at once, at most: 2$/m,
  "18-approvals": /ApprovalDenied: mailbox\.empty was not approved; it was not called\./,
  "19-outputs": /1 of 2 passed, mean score 0\.50/,
  "20-tools": /Error \(not-approved\): refund/,
  "21-ask": /^done The report of June is out\.$/m,
  "22-hooks": /^stopped guardrail No passwords, please\.$/m,
  "23-token-budget": /Error \(call-limit\)[\s\S]*Two sent\. \[ 'Ada', 'Grace' \]/,
  "24-images": /I have seen 1 image; the wall is red\./,
  "25-workspaces": /^conflict: true$/m,
  "26-custom-workspace": /^\d\d promises kept \[\]$/m,
  "27-shell": /may it run `rm notes\.txt`\? no/,
  "28-delegate": /\[t2 analyst\] done\./,
  "29-steering": /Error \(skipped-steering\)/,
  "30-cancellation": /^run: aborted$/m,
  "31-checkpoint-and-resume":
    /^ {2}left: queued after cycle 1\n\ntomorrow\n {2}the same run: true\n {2}sales of June are/m,
  "32-kill-9": /ended by SIGKILL[\s\S]*to Grace: known already[\s\S]*^Ada 40 €\nGrace 90 €\nEdsger 10 €$/m,
  "33-ask-across-restarts": /^ {2}drafts an offer\n {2}may it call send .*\nthe user says: yes\n {2}done: The offer/m,
  "34-worker-pool": /^4 runs in 2 processes, none of them this one: true$/m,
  "35-bullmq": /^(baked in process \d+\n){4}process \d+ baked none$/m,
  "36-durable-live-objects":
    /ended by SIGKILL[\s\S]*^- ticking: a Timeout[\s\S]*^\[ \[ Day \{ city: 'Oslo', degrees: -4 \} \], true, 13,/m,
  "37-replay-as-a-test": /^It replays, with 2 lookups as before\.[\s\S]*^- '9\.60'\n\+ '8\.16'$/m,
  "38-claude-code": /^done: There are three things on your list\.\n10 tokens read, 2 written, \$0\.0100$/m,
  "39-resume-a-cli": /^Hello, Ada\.\nYou told me: My name is Ada\. Say hello\.\n4 messages, 2 runs$/m,
  "40-fallback":
    /^claude is first in line\n> Name a river.*\nThe Timavo does\.\n {2}claude → codex: .*529.*\n.*\nNear Trieste, after 40 km\.$/m,
  "41-tool-kit":
    /may pay\(\[\{"euros":12\}\]\) be called\? yes\n.*: Paid 12 € for tea\.\n.*poet: Steam[\s\S]*12 €, paid\.$/m,
  "42-live-objects-in-a-cli": /^\[ 'kitchen 20', 'study 0' \] 2 lamps at 20 %$/m,
  "43-sub-agents-across-clis":
    /^lead begins\n {2}reviewer begins\n {2}done: It never ends\.[\s\S]*counter[\s\S]*^done: It never ends, in 16 characters\.$/m,
  "44-health":
    /^Claude Code 0\.0\.0: login missing: .*\nCodex 0\.0\.0: .*\nopencode: not installed\. Install it with `npm[\s\S]*^installed: claude, codex; .* claude$/m,
  "46-configuration":
    /^models\.strong .*"\$\{WORK_KEY\}".* \(project\)[\s\S]*`shell` is left out[\s\S]*^Guten Morgen\.\nThe Timavo does\.\nwaiting\n.*it asks/m,
  "47-another-try": /^stopped: cycles\n<output> 500 .*\ndone: 500 bytes\.$/m,
  "48-evals": /^✓ {2}karst +1\.00[\s\S]*^✗ glaciers, onShelf: on the shelf: \?$/m,
  "45-interactive": /^\w+\.interactive\(\) needs a terminal, and standard input is none\./m,
}

// CLIs are also looked for where their installers put them.
const elsewhere = ["/usr/local/bin", "/opt/homebrew/bin"].find((folder) =>
  ["claude", "codex", "opencode", "gemini"].some((name) => existsSync(join(folder, name))),
)
const hasClis = elsewhere === undefined ? undefined : `a coding CLI is installed in ${elsewhere}`

describe("the examples", () => {
  test("are numbered from 01 without a gap", () => {
    const numbers = examples.map((file) => file.slice("examples/".length, "examples/01".length))
    assert.ok(numbers.length > 0)
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => String(index + 1).padStart(2, "0")),
    )
  })

  for (const file of examples) {
    test(`${file} is under 60 lines, opens with two lines of comment and imports what a user would`, async () => {
      const text = await readFile(join(root, file), "utf8")
      const lines = text.trimEnd().split("\n")
      assert.ok(lines.length < 60, `${lines.length} lines`)
      assert.deepEqual(
        lines.slice(0, 3).map((line) => line.startsWith("//")),
        [true, true, false],
      )
      const foreign = [...text.matchAll(/from "([^"]+)"/g)]
        .map(([, name = ""]) => name)
        .filter((name) => !/^(karst|node:|zod$)/.test(name))
      assert.deepEqual(foreign, [])
    })

    const name = basename(file, ".ts")
    test(`${file} runs without a key and shows what it is for`, { skip: skips[file] }, async () => {
      await using machine = await createPlannedCliMachine(examplePlans[name] ?? {})
      const { PATH } = process.env
      const { stdout, stderr } = await run(file, machine.cwd, name in examplePlans ? machine.env : { PATH })
      const shown = shows[name]
      assert.ok(shown, `Name a line that only ${file} prints, in the table above.`)
      assert.match(stdout, shown)
      assert.equal(stderr, "")
    })

    if (!(name in examplePlans)) continue
    test(`${file} says what to install where there is no CLI`, { skip: hasClis }, async () => {
      await using machine = await createPlannedCliMachine({}, [])
      const { stdout, stderr } = await run(file, machine.cwd, machine.env)
      assert.match(stdout, /not installed[\s\S]*npm install -g @anthropic-ai\/claude-code/)
      assert.equal(stderr, "")
    })
  }
})

// Elsewhere, so that an example that leaves a file behind leaves it there.
function run(file: string, cwd: string, env: NodeJS.ProcessEnv) {
  const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning", join(root, file)]
  return promisify(execFile)(process.execPath, flags, { cwd, env })
}
