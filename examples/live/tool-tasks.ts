// Tasks over files and a shell, with a person as the model: requests are written to files, answers are read from files.
//   npm run example -- live/tool-tasks --hand <folder> [--tasks fix-test,rename]
// The hand folder gets one folder for each task. Each task is checked in its workspace at the end.
import { execFileSync } from "node:child_process"
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { createAgent } from "karst"
import { handModel } from "karst/models"
import { localWorkspace, type Workspace } from "karst/workspaces"

interface Task {
  prompt: string
  files: Record<string, string>
  /** Returns true if the task was done. */
  check(read: (path: string) => Promise<string>, folder: string, output: string): Promise<boolean>
}

const services = ["auth", "billing", "search", "mail"]
const log = Array.from({ length: 6000 }, (_, index) => {
  const level = index % 97 === 13 ? "ERROR" : index % 31 === 7 ? "WARN" : "INFO"
  const service = services[(index * 7) % services.length]
  return `2026-03-01T${String(Math.floor(index / 250)).padStart(2, "0")}:00:00Z ${level} ${service} request ${index} done`
})
const errorsOf = (service: string) => log.filter((line) => line.includes(`ERROR ${service}`)).length

const tasks: Record<string, Task> = {
  "fix-test": {
    prompt: "The test in test.mjs fails. Find the mistake in the library, correct it there, and run the test again.",
    files: {
      "package.json": '{ "type": "module" }\n',
      "lib/money.mjs": "export function addTax(cents, rate) {\n  return Math.floor(cents * rate)\n}\n",
      "test.mjs":
        'import assert from "node:assert"\nimport { addTax } from "./lib/money.mjs"\nassert.equal(addTax(1000, 0.19), 1190)\nassert.equal(addTax(999, 0.19), 1189)\nconsole.log("ok")\n',
    },
    check: async (_, folder) => execFileSync(process.execPath, ["test.mjs"], { cwd: folder }).toString() === "ok\n",
  },
  rename: {
    prompt: "Rename the function `getUser` to `findUser` everywhere in src. `getUserName` stays as it is.",
    files: Object.fromEntries([
      [
        "src/user.js",
        "export function getUser(id) {\n  return { id }\n}\nexport const getUserName = (id) => getUser(id).name\n",
      ],
      ...["a", "b", "c", "d"].map((name) => [
        `src/${name}.js`,
        `import { getUser, getUserName } from "./user.js"\nexport const ${name} = [getUser(1), getUserName(2), getUser(3)]\n`,
      ]),
    ]),
    async check(read) {
      const texts = await Promise.all(["user", "a", "b", "c", "d"].map((name) => read(`src/${name}.js`)))
      return texts.every(
        (text) => !/\bgetUser\b/.test(text) && /\bfindUser\b/.test(text) && text.includes("getUserName"),
      )
    },
  },
  log: {
    prompt:
      "How many lines with level ERROR does each service have in server.log? Name the hour with the first of them.",
    files: { "server.log": `${log.join("\n")}\n` },
    check: async (_read, _folder, output) => services.every((name) => output.includes(String(errorsOf(name)))),
  },
  settings: {
    prompt:
      "In all files of config/, set the time-out of the database to 5000 and remove the key `legacy` wherever it is.",
    files: Object.fromEntries(
      ["dev", "test", "live"].map((name, index) => [
        `config/${name}.json`,
        `${JSON.stringify({ name, database: { host: `${name}.local`, timeoutMs: 1000 * index, legacy: true }, legacy: name }, null, 2)}\n`,
      ]),
    ),
    async check(read) {
      const texts = await Promise.all(["dev", "test", "live"].map((name) => read(`config/${name}.json`)))
      return texts.every((text) => JSON.parse(text).database.timeoutMs === 5000 && !text.includes("legacy"))
    },
  },
  todos: {
    prompt:
      "Collect all TODO comments of src into TODO.md, one line each: `- path:line text`, sorted by path and line.",
    files: {
      "src/a.js": "// TODO check input\nexport const a = 1\n",
      "src/deep/b.js": "export const b = 1\n\n// TODO cache this\n// TODO and free it\n",
      "src/c.js": "export const todo = 'TODO is not a comment here'\n",
    },
    async check(read) {
      const text = await read("TODO.md")
      return (
        /src\/a\.js:1 .*check input[\s\S]*src\/deep\/b\.js:3 .*cache this[\s\S]*src\/deep\/b\.js:4 .*free it/.test(
          text,
        ) && !text.includes("c.js")
      )
    },
  },
  totals: {
    prompt:
      "Write totals.json with the sum of the amounts for each customer of orders.csv, largest first, as [name, sum].",
    files: {
      "orders.csv": `customer,amount\n${Array.from({ length: 300 }, (_, index) => `c${index % 7},${(index * 37) % 101}`).join("\n")}\n`,
    },
    async check(read) {
      const sums = new Map<string, number>()
      for (let index = 0; index < 300; index++) {
        sums.set(`c${index % 7}`, (sums.get(`c${index % 7}`) ?? 0) + ((index * 37) % 101))
      }
      const found: [string, number][] = JSON.parse(await read("totals.json"))
      const inOrder = found.every(([, sum], index) => index === 0 || (found[index - 1]?.[1] ?? 0) >= sum)
      return found.length === 7 && inOrder && found.every(([name, sum]) => sums.get(name) === sum)
    },
  },
}

const { values } = parseArgs({
  options: { hand: { type: "string" }, tasks: { type: "string", default: Object.keys(tasks).join(",") } },
})
const { hand } = values
if (!hand) throw new Error("Give --hand: a folder for the requests and answers.")

for (const name of values.tasks.split(",")) {
  const task = tasks[name]
  if (!task) throw new Error(`There is no task ${name}; there are ${Object.keys(tasks).join(", ")}.`)
  const folder = mkdtempSync(join(tmpdir(), "karst-task-"))
  const workspace: Workspace = localWorkspace(folder)
  for (const [path, text] of Object.entries(task.files)) await workspace.write(path, text)
  const model = handModel({ dir: join(hand, name), countTokens })
  const { output, usage, cycles } = await createAgent({ model, workspace, shell: { approve: false } }).run(task.prompt)
  const read = async (path: string) => new TextDecoder().decode(await workspace.read(path))
  const done = await task.check(read, folder, String(output)).catch(() => false)
  const { input = 0, output: written = 0 } = usage
  const line = `task ${name}: ${done ? "done" : "not done"}, ${cycles} model calls, ${input} + ${written} tokens`
  console.log(line)
  appendFileSync(join(hand, "results.txt"), `${line}\n`)
  rmSync(folder, { recursive: true, force: true })
}
