import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, test } from "node:test"
import * as karst from "karst"
import * as display from "karst/display"
import * as evals from "karst/evals"
import * as mcp from "karst/mcp"
import * as process from "karst/process"
import * as providers from "karst/providers"
import * as python from "karst/python"
import * as testing from "karst/testing"

// A change here is a change of what users may rely on, and belongs in CHANGELOG.md.
const values = `
  AbortError AgentError ConfigError ConflictError MissingPeerError ModelError ProviderError UnsupportedError addUsage
  aiSdk attributeRule codec createAgent createEngine currentCall defaultSections fenced fn functionRule guardInput guardOutput importRule isDelta jsRuntime 
  loadSkills memoryStore messageText outsideRuns record regexRule replay resolve retry rotate skill
  safeRules scripted timeouts totalTokens trajectory tool toolFailure toolResult type validateOutput variable
  bullmqBackend inlineBackend redisStore sqliteStore workerBackend
  deleteSession listSessions loadSession toAtif
  localWorkspace memoryWorkspace overlay readOnly s3Workspace scoped`

const types = `
  ActionError ActionErrorKind Agent AgentEvent AgentOptions AgentOverrides AgentReply AgentSpec CellAgent CellRunOptions CellTask AiSdkOptions Append Approver ApproverOption
  AssistantMessage Bindings Call CallGate CallPreview CellEnv Change CodeAgent CodePart CodeResultPart CodeRunOptions
  CodeSession CodeSessionOptions Codec CodecMethods Codecs Decision Delete Entry EndpointChange ErrorData EventOf EventType ExecuteOptions Executed Execution
  FinishReason FunctionOptions FunctionRuleOptions Guard ImagePart JsRuntimeOptions Json JsonSchema Limits LiveObjects
  Lost Message Metadata Model ModelErrorCode ModelPart ModelRequest ModelSource Name NameChanges Names NotExecuted
  AfterCall AfterCycle AfterModel AfterRun BeforeModel BeforeRun Completion CycleEnding Guarded Guardrail HookContext ModelAnswer ModelTurn
  Directive InputOf NoToolPolicy Tool ToolContext ToolDefinition ToolOptions ToolPolicy ToolResult ToolState
  OutputCheck RunEnding RunHooks RunStart Stop ValidateOptions
  AskFirst BeforeCall CallContext CallOptions CallOutcome Hooks MakeCall MethodGuard Pauses
  CompactHooks Compacted FullConversation MemoryOptions SummaryPart SummarySections
  AgentResult ObjectsOf OutputOptions Outputs ResultWith Todo Verify Verdict Judgement
  OutputChunk Pending Price Prompt PromptContext PromptPart ProviderErrorCode QueuedRun
  PromptSections Put ReasoningPart RecordedCall RecordOptions
  ReplayOptions ResolveOptions ResultMessage Retry RetryOptions RetryPolicy RotateOptions Rule RuleContext RuleData RuleOptions Run RunOptions
  RunRecord RunResult Runtime RuntimeSource SchemaLike ScriptedAnswer ScriptedModel ScriptedOptions ScriptedStep
  LoadedSkills Session SessionOf SessionOptions Skill SkillBindings SkillFile SkillOptions SkillPath SkillProblem SkillSource Snapshot StandardSchema Status StopReason Store TextPart TimeoutOptions ToolCallPart
  ToolResultPart ToolSpec Trajectory TypeGateMode TypeOptions TypedRuntime Usage UserMessage VariableOptions Violation
  ArchiveOptions ArchiveSource Atif AtifStep SessionInfo
  FileStoreOptions RedisClient RedisStoreOptions SqliteStoreOptions
  Backend BackendOptions BullmqBackendOptions Job RedisConnection StartOptions WorkerBackendOptions
  Engine EngineOptions ListFilter RunInfo RunStatus SessionQueue SubmitOptions UnknownPolicy WatchOptions
  FileData FileInfo S3Credentials S3Options Workspace`

describe("the public surface", () => {
  test('of "karst" is these values', () => {
    assert.deepEqual(Object.keys(karst).sort(), sorted(values))
  })

  test('of "karst" is these types', () => {
    const front = readFileSync(new URL("../src/index.ts", import.meta.url), "utf8")
    const all = [...front.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) => list.split(","))
    const names = all.map((name) => name.trim().replace(/^type (?=\w)/, "")).filter(Boolean)
    assert.deepEqual(names.filter((name) => !(name in karst)).sort(), sorted(types))
  })

  test('of "karst/display" is one function', () => {
    assert.deepEqual(Object.keys(display), ["display"])
  })

  test('of "karst/process" and "karst/python" is their runtimes, and what goes in', () => {
    assert.deepEqual(Object.keys(process), ["processRuntime"])
    assert.deepEqual(Object.keys(python), ["kwargs", "py", "pythonRuntime", "safePythonRules", "table"])
  })

  test('of "karst/providers" is the coding CLIs', () => {
    assert.deepEqual(
      Object.keys(providers).sort(),
      sorted("acp checkHealth claude codex codingAgent fallback gemini installedProviders opencode"),
    )
  })

  test('of "karst/evals" is one function', () => {
    assert.deepEqual(Object.keys(evals), ["suite"])
  })

  test('of "karst/mcp" is both sides of the protocol, and methods as tools', () => {
    assert.deepEqual(Object.keys(mcp), ["mcpTools", "methods", "serveMcp", "serveMcpStdio"])
  })

  test('of "karst/testing" is the conformance suites and replay', () => {
    assert.deepEqual(Object.keys(testing), [
      "assertReplays",
      "backendHandle",
      "handleCases",
      "replayRecording",
      "testBackend",
      "testHandles",
      "testRuntime",
      "testStore",
      "testWorkspace",
    ])
  })

  test("gives a Run at once and never a promise of one", async () => {
    const agent = karst.createAgent({ model: karst.scripted(() => "Hello.") })
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

function sorted(names: string): string[] {
  return names.trim().split(/\s+/).sort()
}
