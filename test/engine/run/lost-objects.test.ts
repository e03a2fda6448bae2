// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, fn, jsRuntime, messageText } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"

test("what was lost with a process is told to the model once, however often the run is resumed", async () => {
  const store = memoryStore()
  const steps = ["const t = setInterval(() => {}, 9e6); const kept = 1", "kept + 1", "kept + 2", "kept + 3"]
  const model = scriptedModel(({ messages }) => {
    const step = steps[messages.filter(({ role }) => role === "assistant").length]
    return step ? `\`\`\`ts\n${step}\nawait stop()\n\`\`\`\n` : "Done."
  })
  let id: string | undefined
  for (let process = 0; process < steps.length; process++) {
    // As after a restart: another engine and another agent of the same shape.
    const agent = createAgent({ model, runtime: () => jsRuntime({ stop: fn(() => void engine.drain()) }) })
    const engine = createEngine({ agents: { agent }, store })
    if (id === undefined) id = (await engine.submit("agent", "Go")).id
    else await engine.recover()
    let cycles = 0
    for await (const event of engine.watch(id)) {
      if (event.type === "cycle-end" && ++cycles > process) break
    }
    await engine.close()
  }
  const agent = createAgent({ model, runtime: () => jsRuntime({ stop: fn(() => undefined) }) })
  await using engine = createEngine({ agents: { agent }, store })
  await engine.recover()
  const { status, messages } = await engine.result(id ?? "")
  assert.equal(status, "done")
  const told = messages.map(messageText).filter((text) => text.includes("- t: "))
  assert.equal(told.length, 1, told.join("\n\n"))
})

test("what a cycle changed before it failed is told to the model in the next run of the session", async () => {
  let isBroken = false
  const cells: Record<string, string> = {
    First: "let x = 1; const list = [1]",
    Second: "x = 2; list.push(2); const late = 3",
    Third: "[x, list]",
  }
  const requests: string[] = []
  const agent = createAgent({
    model: scriptedModel(({ messages }) => {
      requests.push(messages.map(messageText).join("\n"))
      const last = messages.at(-1)
      const cell = last?.role === "user" ? cells[messageText(last).split("\n")[0] ?? ""] : undefined
      return cell === undefined ? "Done." : `\`\`\`ts\n${cell}\n\`\`\``
    }),
    runtime: () => jsRuntime(),
    hooks: [{ afterCycle: () => assert.ok(!isBroken) }],
  })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  for (const prompt of ["First", "Second", "Third"]) {
    isBroken = prompt === "Second"
    const { id } = await engine.submit("agent", prompt, { session: "s" })
    assert.equal((await engine.result(id)).status, isBroken ? "failed" : "done")
  }
  const told = requests.at(-1) ?? ""
  for (const lost of ["x: it is as it was before", "late: ", "what was changed inside objects: "]) {
    assert.ok(told.includes(`- ${lost}`), `${lost} is not in: ${told}`)
  }
})
