import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, test } from "node:test"
import { createAgent } from "karst"
import { scriptedModel } from "karst/models"

// A change here is a change of what users may rely on, and belongs in CHANGELOG.md. The types are in etc/api.md.
const values: Record<string, string> = {
  karst: `AbortError AgentError ConfigError ConflictError MissingPackageError ModelError ProviderError UnsupportedError
    addUsage classType codec createAgent currentCall defaultSections fenced fn guardInput guardOutput isDelta jsRuntime
    loadSkills messageText outsideRuns readRows skill tool toolFailure toolResult totalTokens validateOutput variable`,
  "karst/config": "createLocalClient defineConfig importLlmSettings loadAgents loadConfig trustConfig",
  "karst/display": "display",
  "karst/engine": "bullmqBackend createEngine inlineBackend workerBackend",
  "karst/evals": "suite",
  "karst/mcp": "mcpTools methods serveMcp serveMcpStdio",
  "karst/models": `aiSdk handModel recordModel replayModel resolveModel rotateModels scriptedModel withRetry withTimeouts`,
  "karst/otel": "traced",
  "karst/process": "processRuntime",
  "karst/providers": "acp checkHealth claude codex codingAgent fallback gemini installedProviders opencode",
  "karst/python": "kwargs py pythonRuntime safePythonRules table",
  "karst/rules": "attributeRule functionRule importRule regexRule safeRules",
  "karst/server": "toBrowserEvent toBrowserMessages toNode toResponse",
  "karst/sessions": "deleteSession listSessions loadSession toAtif trajectory",
  "karst/stores": "memoryStore redisStore sqliteStore",
  "karst/testing": `assertReplays backendJobHandler handleCases replayRecording testBackend testHandles testRuntime testStore
    testWorkspace`,
  "karst/tools": `agentTool askTool checkCommandTool commands compactMemoryTool delegateTools editFileTool fileInfoTool
    fileTools findFilesTool finishTool handoffTool listFilesTool readFileTool readImageTool searchFilesTool shellTool
    shellTools todosTool writeFileTool`,
  "karst/workspaces": `localWorkspace memoryWorkspace overlayWorkspace readOnlyWorkspace s3Workspace scopedWorkspace`,
}

describe("the public surface", () => {
  for (const [module, names] of Object.entries(values)) {
    test(`of "${module}" is these values`, async () => {
      assert.deepEqual(Object.keys(await import(module)).sort(), names.split(/\s+/).sort())
    })
  }

  test("is no other module than these", () => {
    const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
    const modules = Object.keys(exports).map((path) => path.replace(".", "karst"))
    assert.deepEqual(modules.filter((module) => module !== "karst/package.json").sort(), Object.keys(values).sort())
  })

  test("gives a Run at once and never a promise of one", async () => {
    const agent = createAgent({ model: scriptedModel(() => "Hello.") })
    const run = agent.run("Hi")
    assert.equal(typeof run.abort, "function")
    await run
    await using session = await agent.session()
    for (const turn of [session.send("Hi"), session.followUp("And you?")]) {
      assert.equal(typeof turn.abort, "function")
      assert.equal((await turn).output, "Hello.")
    }
  })
})
