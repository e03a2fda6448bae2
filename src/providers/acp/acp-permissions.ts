// Decides and answers the permission requests of an ACP program.
import type { CliServer, ToolGroup, TurnSettings } from "../provider.ts"
import { type JsonObject, listAt, textAt } from "../read-json.ts"
import { toolOfServer } from "../serve-tools.ts"
import type { AcpCall } from "./acp-updates.ts"

/** Decides about a call from the settings alone, or returns "ask" if an approver must decide. */
export function decidePermission(
  call: AcpCall,
  { allow, permissions, servers }: Pick<TurnSettings, "allow" | "permissions" | "servers">,
): "allow" | "deny" | "ask" {
  if (permissions === "bypass") return "allow"
  const group = groupOfKind[call.kind]
  if (group === undefined && servers.some(({ name }) => belongsToServer(call, name))) return "allow"
  if (permissions === "ask")
    return group === "read" ? grant(allow.has("read")) : isAllowed(group, allow) ? "ask" : "deny"
  return grant(isAllowed(group, allow))
}

/** The answer to `session/request_permission`. */
export function permissionAnswer(request: JsonObject, decision: "allow" | "always" | "deny"): JsonObject {
  const wanted =
    decision === "deny"
      ? ["reject_once", "reject_always"]
      : decision === "allow"
        ? allowingKinds
        : allowingKinds.toReversed()
  const options = listAt(request, "options")
  const chosen = wanted.flatMap((kind) => options.find((option) => textAt(option, "kind") === kind) ?? [])[0]
  const optionId = textAt(chosen, "optionId")
  return optionId === undefined ? cancelledAnswer : { outcome: { outcome: "selected", optionId } }
}

export const cancelledAnswer: JsonObject = { outcome: { outcome: "cancelled" } }

const allowingKinds = ["allow_once", "allow_always"]

const groupOfKind: Record<string, ToolGroup | undefined> = {
  read: "read",
  search: "read",
  edit: "write",
  delete: "write",
  move: "write",
  execute: "exec",
  fetch: "web",
}

// A tool without a known kind may do anything, so it needs all of these groups.
function isAllowed(group: ToolGroup | undefined, allow: ReadonlySet<ToolGroup>): boolean {
  if (group !== undefined) return allow.has(group)
  return (["read", "write", "exec", "web"] as const).every((each) => allow.has(each))
}

function grant(isGranted: boolean): "allow" | "deny" {
  return isGranted ? "allow" : "deny"
}

// The title of a call may be "run (karst MCP Server)".
function belongsToServer({ name, title }: AcpCall, server: CliServer["name"]): boolean {
  return (
    [name, title].some((text) => toolOfServer(text, server) !== undefined) || title.endsWith(`(${server} MCP Server)`)
  )
}
