import type { Binding, Bindings } from "../../../src/runtime/bindings.ts"
import { toBinding } from "../../../src/runtime/bindings.ts"
import { parseCell } from "../../../src/runtime/compiler/parse-cell.ts"
import { noAgentDescriptions } from "../../../src/runtime/declare/declare-agent.ts"
import { declareBindings } from "../../../src/runtime/declare/declare-bindings.ts"
import { noSourceLookup } from "../../../src/runtime/declare/source/source-lookup.ts"

export function bound(bindings: Bindings): Map<string, Binding> {
  return new Map(Object.entries(bindings).map(([name, value]) => [name, toBinding(value)]))
}

/** Returns the declarations of bindings, without reading files, after checking that they are TypeScript. */
export function declared(bindings: Bindings): string {
  const all = bound(bindings)
  const text = declareBindings(all, all, false, noAgentDescriptions, noSourceLookup)
  parseCell(text)
  return text
}
