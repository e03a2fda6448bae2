import assert from "node:assert/strict"
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type AgentOptions, createAgent, jsRuntime, type Message, messageText, tool } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { localWorkspace, overlayWorkspace, readOnlyWorkspace, scopedWorkspace, type Workspace } from "karst/workspaces"
import { call, calls, finish } from "../agent/tool-call-helpers.ts"
import { skillText, temporaryFolder } from "./skill-folders.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``
const texts = (messages: readonly Message[]) => messages.map((message) => messageText(message))
const activate = cell('await activateSkill("pay")')

const files = {
  "package.json": '{"type":"module"}',
  "skills/pay/SKILL.md": skillText("pay"),
  "skills/pay/rates.ts": "export const rate: number = 1",
  "skills/pay/injection.ts": `
    import { rate } from "./rates.ts"
    export const pay = (amount: number): number => amount * rate
    export const later = async (): Promise<number> => (await import("./later.mjs")).value
  `,
  "skills/pay/later.mjs": "export const value = 1",
  "skills/pay/data/notes.md": "notes",
}

/** The activation text of "pay" that the model saw. */
async function activation(options: Partial<AgentOptions>): Promise<string> {
  const model = scriptedModel([activate, "Done."])
  const { messages } = await createAgent({ model, runtime: jsRuntime(), ...options }).run("Go")
  return texts(messages)[2] ?? ""
}

describe("a skill's code that would run on the host is refused", () => {
  const places: [what: string, workspace: (root: string) => Promise<Workspace> | Workspace][] = [
    ["in the root of the workspace", (root) => localWorkspace(join(root, "skills/pay"))],
    ["in a folder of the workspace", (root) => localWorkspace(root)],
    ["in a workspace whose path has `..` in it", (root) => localWorkspace(`${root}/skills/../skills/pay/../../skills`)],
    [
      "in a workspace that is named by a link",
      async (root) => {
        await symlink(join(root, "skills"), join(root, "link"))
        return localWorkspace(join(root, "link"))
      },
    ],
    [
      "in a workspace below a link",
      async (root) => {
        await symlink(root, join(root, "skills/again"))
        return localWorkspace(join(root, "skills/again/skills"))
      },
    ],
    [
      "in the layer of an overlay that is written",
      (root) => overlayWorkspace(localWorkspace("nowhere"), localWorkspace(root)),
    ],
    ["in a workspace that a scoped one is part of", (root) => scopedWorkspace(localWorkspace(root), "other")],
    ["with a file that it may import inside the workspace", (root) => localWorkspace(join(root, "skills/pay/data"))],
  ]
  for (const [what, workspace] of places) {
    test(what, async (t) => {
      const root = await temporaryFolder(t, { ...files, "skills/pay/data/extra.mjs": "export const extra = 1" })
      const chosen = await workspace(root)
      for (const trusted of [true, false]) {
        const result = await activation({ workspace: chosen, skills: [{ path: join(root, "skills/pay"), trusted }] })
        assert.match(result, /was not run: the agent can write in ".*"\. Keep the skill outside of it/)
      }
    })
  }

  test("in the workspace of the agent that gave it the task", async (t) => {
    const root = await temporaryFolder(t, files)
    const skills = [{ path: join(root, "skills"), trusted: true }]
    const child = createAgent({ model: scriptedModel([activate, "Done."]), runtime: () => jsRuntime(), skills })
    const shown: string[] = []
    const ask = tool({
      name: "ask_child",
      description: "Asks.",
      async run() {
        const { messages } = await child.run("Go")
        shown.push(texts(messages)[2] ?? "")
        return "asked"
      },
    })
    const model = scriptedModel([calls(call("ask_child")), calls(finish())])
    await createAgent({ noTool: "continue", model, tools: [ask], workspace: localWorkspace(root) }).run("Go")
    assert.match(shown[0] ?? "", /was not run: the agent can write in/)
  })

  test("when trusted, whatever confines the cells", async (t) => {
    const root = await temporaryFolder(t, files)
    await using runtime = processRuntime()
    const skills = [{ path: join(root, "skills"), trusted: true }]
    assert.match(await activation({ runtime, skills, workspace: localWorkspace(root) }), /was not run: the agent can/)
  })
})

describe("a skill's code runs", () => {
  const places: [what: string, workspace: (root: string) => Workspace | undefined][] = [
    ["beside the workspace", (root) => localWorkspace(join(root, "other"))],
    ["beside a workspace whose name begins alike", (root) => localWorkspace(join(root, "skil"))],
    ["in a workspace that is read only", (root) => readOnlyWorkspace(localWorkspace(root))],
    ["below an overlay", (root) => overlayWorkspace(localWorkspace(root), localWorkspace(join(root, "other")))],
    ["without a workspace", () => undefined],
  ]
  for (const [what, workspace] of places) {
    test(what, async (t) => {
      const root = await temporaryFolder(t, files)
      const skills = [{ path: join(root, "skills"), trusted: true }]
      assert.match(await activation({ workspace: workspace(root), skills }), /"pay" is active/)
    })
  }

  test("from the workspace where it gets no more rights than cells have", async (t) => {
    const root = await temporaryFolder(t, files)
    await using runtime = processRuntime()
    const skills = [join(root, "skills")]
    assert.match(await activation({ runtime, skills, workspace: localWorkspace(root) }), /"pay" is active/)
  })
})

describe("the code of a skill is the one that was there when it was loaded", () => {
  const shellWrites = (command: string) => calls(call("shell", { command }))
  const changes: [what: string, command: string, says: RegExp][] = [
    ["its module is changed", "echo 'export const pay = 666' > skills/pay/injection.ts", /injection\.ts" has changed/],
    ["a file it imports is changed", "echo 'export const rate = 666' > skills/pay/rates.ts", /rates\.ts" has changed/],
    [
      "a file it imports becomes a link to another",
      "echo 'export const rate = 666' > evil.ts; ln -sf ../../evil.ts skills/pay/rates.ts",
      /rates\.ts" is not one of the files/,
    ],
    [
      "its module is put before another of its names",
      "echo 'export const pay = 666' > skills/pay/injection.mjs",
      /injection\.mjs" is not one of the files/,
    ],
    [
      "its folder is replaced by a link to another",
      "cp -r skills/pay evil; echo 'export const rate = 666' > evil/rates.ts; rm -r skills/pay; ln -s ../evil skills/pay",
      /is not/,
    ],
    [
      "a file it imports goes and comes back as a folder",
      "rm skills/pay/rates.ts; mkdir skills/pay/rates.ts; echo 'export const rate = 666' > skills/pay/rates.ts/index.js",
      /./,
    ],
  ]
  for (const [what, command, says] of changes) {
    test(`a shell that is not confined is refused: ${what}`, async (t) => {
      const root = await temporaryFolder(t, files)
      const workspace = localWorkspace(join(root, "work"))
      const runtime = jsRuntime()
      const model = scriptedModel([shellWrites(`cd .. && ${command}`), activate, "Done."])
      const { messages } = await createAgent({
        model,
        runtime,
        workspace,
        shell: { approve: false },
        skills: [{ path: join(root, "skills"), trusted: true }],
      }).run("Go")
      const result = texts(messages)[4] ?? ""
      assert.match(result, says)
      assert.doesNotMatch(result, /is active/)
      assert.ok(!(await runtime.names()).some(({ name }) => name === "pay"))
    })
  }

  test("also where a function of it imports a file later", async (t) => {
    const root = await temporaryFolder(t, files)
    const runtime = jsRuntime()
    const skills = [{ path: join(root, "skills"), trusted: true }]
    assert.match(await activation({ runtime, skills }), /is active/)
    await writeFile(join(root, "skills/pay/later.mjs"), "export const value = 666")
    const execution = await runtime.execute("await later()")
    assert.ok(!execution.ok)
    assert.match(execution.error.message, /later\.mjs" has changed since the skill was loaded/)
  })

  test("and one of CommonJS, with what it requires", async (t) => {
    const root = await temporaryFolder(t, {
      "skills/pay/SKILL.md": skillText("pay"),
      "skills/pay/package.json": '{"type":"commonjs"}',
      "skills/pay/injection.js": 'exports.pay = () => require("./rate.cjs").rate',
      "skills/pay/rate.cjs": "exports.rate = 1",
    })
    const runtime = jsRuntime()
    const skills = [{ path: join(root, "skills"), trusted: true }]
    assert.match(await activation({ runtime, skills }), /is active/)
    await writeFile(join(root, "skills/pay/rate.cjs"), "exports.rate = 666")
    const execution = await runtime.execute("await pay()")
    assert.ok(!execution.ok)
    assert.match(execution.error.message, /rate\.cjs" has changed since the skill was loaded/)
  })

  test("what its folder imports from the program around it is the program's", async (t) => {
    const root = await temporaryFolder(t, {
      "package.json": '{"type":"module"}',
      "app/rates.ts": "export const rate = 2",
      "skills/pay/SKILL.md": skillText("pay"),
      "skills/pay/injection.ts":
        'import { rate } from "../../app/rates.ts"; import { sep } from "node:path"; export const pay = () => rate + sep',
    })
    const runtime = jsRuntime()
    assert.match(await activation({ runtime, skills: [{ path: join(root, "skills"), trusted: true }] }), /is active/)
    const execution = await runtime.execute("await pay()")
    assert.equal(execution.ok && execution.value, "2/")
  })

  test("a change that is the owner's is taken by an agent that loads it anew", async (t) => {
    const root = await temporaryFolder(t, files)
    const path = join(root, "skills/pay")
    const first = createAgent({
      model: scriptedModel(["Nothing.", activate, "Done."]),
      runtime: () => jsRuntime(),
      skills: [{ path, trusted: true }],
    })
    await first.run("Load")
    await mkdir(join(root, "new"))
    await writeFile(join(root, "new/rates.ts"), "export const rate: number = 2")
    await rename(join(root, "new/rates.ts"), join(path, "rates.ts"))
    await rm(join(root, "new"), { recursive: true })
    assert.match(texts((await first.run("Go")).messages).join("\n"), /rates\.ts" has changed/)
    assert.match(await activation({ skills: [{ path, trusted: true }] }), /is active/)
  })
})
