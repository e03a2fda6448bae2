// test lane: clis, long
import assert from "node:assert/strict"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { claude, codex } from "karst/providers"
import { startKarst } from "../cli/karst.ts"
import { requires } from "../system.ts"
import { createCliMachine, eventsOfType } from "./cli-machines.ts"

const objects = fileURLToPath(new URL("../fixtures/mcp/objects.ts", import.meta.url))
const token = "0123456789abcdef0123456789abcdef"

test("`karst mcp serve --http` gives Claude Code and Codex the same live objects, one after the other", {
  skip: requires("claude", "codex"),
}, async (context) => {
  const { child } = startKarst(["mcp", "serve", objects, "--http"], { KARST_MCP_TOKEN: token })
  context.after(() => child.kill("SIGKILL"))
  const url = await told(child.stderr, /serving at (\S+)\n/)
  const mcpServers = { objects: { url, headers: { Authorization: `Bearer ${token}` } } }

  await using first = await createCliMachine("claude", async (model) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }))
  const code = JSON.stringify({ code: "light.dim(20)\nlight.brightness" })
  const prompt = `[[tool:mcp__objects__run ${code}]] [[tool:mcp__objects__describe {}]]`
  const dimmed = await claude({ ...first.options, mcpServers }).run(prompt)
  const [ran, described] = eventsOfType(dimmed.trajectory.events, "tool-end")
  assert.deepEqual([ran?.ok, ran?.text], [true, "<output>\n20\n</output>"])
  assert.match(described?.text ?? "", /declare const light/)
  const heard = JSON.stringify(first.model.requests.map(({ body }) => body))
  assert.ok(heard.includes("Live objects of the user"), "the server's instructions are in the prompt")

  await using second = await createCliMachine("codex", async (model, home) => {
    await mkdir(join(home, ".codex"))
    const name = ['model = "gpt-5.2"', 'model_provider = "loopback"', "[model_providers.loopback]", 'name = "loopback"']
    const wire = [`base_url = "${model.url}/v1"`, 'env_key = "LOOPBACK_KEY"', 'wire_api = "responses"']
    await writeFile(join(home, ".codex", "config.toml"), [...name, ...wire].join("\n"))
    return { LOOPBACK_KEY: "none" }
  })
  const looked = await codex({ ...second.options, mcpServers }).run(
    '[[tool:mcp__objects:inspect {"name":"light.brightness"}]]',
  )
  const [seen] = eventsOfType(looked.trajectory.events, "tool-end")
  assert.deepEqual([seen?.ok, seen?.text], [true, "<output>\n20\n</output>"])
})

async function told(stream: Readable, words: RegExp): Promise<string> {
  let said = ""
  for await (const text of stream.iterator({ destroyOnReturn: false })) {
    said += text
    const [, found] = words.exec(said) ?? []
    if (found !== undefined) return found
  }
  throw new Error(said)
}
