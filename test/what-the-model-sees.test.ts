import assert from "node:assert/strict"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { createAgent } from "karst"
import { scriptedModel } from "karst/models"
import { seenBlocks } from "./what-the-model-sees.ts"

const file = join(import.meta.dirname, "../docs/what-the-model-sees.md")
const block = /^````text\n([\s\S]*?)\n````$/gm

test("docs/what-the-model-sees.md shows what the model of its agent really sees", async () => {
  const seen = Object.values(await seenBlocks())
  if (process.env.UPDATE_DOCS === "1") {
    const blocks = seen.values()
    const page = readFileSync(file, "utf8")
    writeFileSync(
      file,
      page.replaceAll(block, () => `\`\`\`\`text\n${blocks.next().value}\n\`\`\`\``),
    )
  }
  const shown = [...readFileSync(file, "utf8").matchAll(block)].map(([, text]) => text)
  assert.deepEqual(shown, seen, "Run this test with UPDATE_DOCS=1 to write the page again.")
})

test("docs/what-the-model-sees.md shows an agent whose model reads Chinese", async () => {
  const model = scriptedModel(["好的。"])
  // #region chinese
  const chinese = createAgent({ model, language: "zh" })
  // #endregion
  assert.match(await chinese.describe(), /\p{Script=Han}{4}/u)
  await chinese.run("你好")
  assert.match(JSON.stringify(model.requests[0]?.messages), /你好[\s\S]*现在/)
})
