// test lane: runtimes
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, type Runtime, tool } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { call, calls } from "../agent/tool-call-helpers.ts"
import { requires } from "../system.ts"

const missing = `${tmpdir()}/no-such-folder/orders.csv`

const bindings = {
  load: () => readFileSync(missing, "utf8"),
  loadLater: () => readFile(missing, "utf8"),
  fail() {
    throw new Error(`no rows in ${process.cwd()}/data/rows.csv`)
  },
  store: {
    open() {
      throw new Error("broken", { cause: new Error(`cannot lock ${missing}`) })
    },
  },
}

async function errors(runtime: Runtime, ...cells: string[]): Promise<string[]> {
  await using opened = runtime
  const tag = opened.language === "python" ? "python" : "ts"
  const model = scriptedModel([...cells.map((code) => `\`\`\`${tag}\n${code}\n\`\`\`\n`), "Done."])
  const texts: string[] = []
  for await (const event of createAgent({ model, runtime: opened }).run("Go on.")) {
    if (event.type === "code-end") texts.push(event.text)
  }
  return texts
}

function checkErrors(texts: readonly string[]): void {
  const [load = "", loadLater = "", fail = "", open = ""] = texts
  assert.match(load, /ENOENT: no such file or directory, open 'orders\.csv'/)
  assert.match(loadLater, /ENOENT: no such file or directory, open 'orders\.csv'/)
  assert.match(fail, /no rows in data\/rows\.csv/)
  assert.match(open, /broken/)
  for (const text of texts) {
    assert.ok(!text.includes(tmpdir()), text)
    assert.ok(!text.includes(process.cwd()), text)
    assert.doesNotMatch(text, /host-paths\.test\.ts/)
  }
}

describe("an error of a host function shows the model no absolute path and no frame of a host file:", () => {
  const cells = ["await load()", "await loadLater()", "await fail()", "await store.open()"]

  test("in jsRuntime", async () => checkErrors(await errors(jsRuntime(bindings), ...cells)))

  test("in processRuntime", async () => checkErrors(await errors(processRuntime(bindings), ...cells)))

  test("in pythonRuntime", { skip: requires("python") }, async () =>
    checkErrors(await errors(pythonRuntime(bindings), "load()", "loadLater()", "fail()", "store.open()")),
  )

  test("as a tool", async () => {
    const read = tool({ name: "read", description: "Reads.", run: () => bindings.load() })
    const model = scriptedModel([calls(call("read")), "Done."])
    const texts: string[] = []
    for await (const event of createAgent({ model, tools: [read], noTool: "answer" }).run("Go on.")) {
      if (event.type === "tool-end") texts.push(event.text)
    }
    assert.match(texts[0] ?? "", /open 'orders\.csv'/)
    assert.ok(!texts[0]?.includes(tmpdir()))
  })
})
