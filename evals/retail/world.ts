// The store of one conversation: as tools for tool calls, and as functions over live objects for cells.
import { type Bindings, classType, fn, type JsonSchema, tool, toolFailure, toolResult } from "karst"
import type { PrintRules, World } from "../replay/task.ts"
import type { TrimmedSchema } from "../replay/trim-schema.ts"
import { Order, Product, User, Variant } from "./records.ts"
import { stateHash } from "./state-hash.ts"
import { openStore } from "./store.ts"
import { callStore, type StoreResult, storeTools } from "./store-tools.ts"
import type { RetailData, RetailFunction } from "./tasks.ts"

/** Opens a new store. `endHash` is the hash of the state that is expected at the end. */
export function createWorld({ database, functions }: RetailData, endHash: string): World {
  const store = openStore(database)
  const made: World["made"] = []

  /** Makes a call and records it. A refused call throws. */
  function call(name: string, input: object = {}): StoreResult {
    try {
      const result = callStore(store, name, input)
      made.push({ name, input, result: String(result) })
      return result
    } catch (error) {
      made.push({ name, input, result: failureText(error) })
      throw error
    }
  }

  function asTool({ name, description, input }: RetailFunction) {
    return tool<JsonSchema>({
      name,
      description,
      input,
      parallel: storeTools[name]?.writes === false,
      run(given) {
        try {
          return toolResult({ text: String(call(name, given)) })
        } catch (error) {
          return toolFailure("refused", failureText(error))
        }
      },
    })
  }

  const asFunction = ({ name, description, input }: RetailFunction) =>
    [name, fn(async (given?: object) => call(name, given), { description, signature: signature(name, input) })] as const

  return {
    tools: functions.map(asTool),
    bindings: { ...Object.fromEntries(functions.map(asFunction)), ...recordTypes },
    made,
    problem: () => (stateHash(store) === endHash ? undefined : "the hash of the end state differs from the reference"),
  }
}

const recordTypes: Bindings = {
  User: classType(User),
  Order: classType(Order),
  Product: classType(Product),
  Variant: classType(Variant),
}

/** What a program prints of each kind of result. The text of a record is that of the tool call. */
export const retailPrint: PrintRules = {
  whole: (name) => `console.log(String(${name}))`,
  projection(name, { name: called, writes }) {
    const kind = storeTools[called]?.result
    if (kind === "Order" && writes) return `console.log(${name}.status)`
    if (kind === "User" && writes) return `console.log(${name}.address)`
    switch (kind) {
      case "User":
        return `console.log(${name}.orders, Object.keys(${name}.payment_methods))`
      case "Order":
        return (
          `console.log(${name}.order_id, ${name}.status, JSON.stringify(${name}.items.map((i) => ` +
          `[i.name, i.product_id, i.item_id, i.price, i.options])), ${name}.payment_history[0].payment_method_id)`
        )
      case "Product":
        return (
          `console.log(JSON.stringify(${name}.variants.filter((v) => v.available).map((v) => ` +
          "[v.item_id, v.price, v.options])))"
        )
      default:
        return `console.log(String(${name}))`
    }
  },
}

function signature(name: string, { properties = {}, required = [] }: TrimmedSchema): string {
  const members = Object.entries(properties).map(
    ([key, { type }]) => `${key}${required.includes(key) ? "" : "?"}: ${type === "array" ? "string[]" : type}`,
  )
  const parameters = members.length === 0 ? "" : `input: { ${members.join("; ")} }`
  return `(${parameters}) => Promise<${storeTools[name]?.result ?? "unknown"}>`
}

function failureText(error: unknown): string {
  return `Error: ${error instanceof Error ? error.message : String(error)}`
}
