import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { type Agent, createAgent, fn, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import type { Order } from "../crash/program.ts"

export interface HeldSetup extends Pick<Order, "place" | "folder"> {
  /** How long a cell is held while an approval is pending. */
  holdMs: number
  approvalTimeoutMs?: number | undefined
}

/** Pays, wipes once it may, and says how that went. Each effect is a line in the folder. */
export function wipingAgent({ folder, approvalTimeoutMs }: Omit<HeldSetup, "holdMs">): Agent {
  const effect = (name: string) => async (of: string) => appendFileSync(join(folder, "effects"), `${name} ${of}\n`)
  return createAgent({
    model: scriptedModel(({ messages }) => {
      const [, run = ""] = /run (\w+)/.exec(JSON.stringify(messages[0])) ?? []
      const wipe = `await pay('${run}')\nfinish(await wipe('${run}').then(() => 'wiped', () => 'refused'))`
      return `\`\`\`ts\n${wipe}\n\`\`\``
    }),
    runtime: () => jsRuntime({ pay: fn(effect("pay")), wipe: fn(effect("wipe"), { approve: true }) }),
    ...(approvalTimeoutMs !== undefined && { approvalTimeoutMs }),
  })
}
