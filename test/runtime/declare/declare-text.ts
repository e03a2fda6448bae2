import type { Binding, Bindings } from "../../../src/runtime/bindings.ts"
import { toBinding } from "../../../src/runtime/bindings.ts"
import { parseCell } from "../../../src/runtime/compiler/parse-cell.ts"
import { declareBindings } from "../../../src/runtime/declare/declare-bindings.ts"

export function bound(bindings: Bindings): Map<string, Binding> {
  return new Map(Object.entries(bindings).map(([name, value]) => [name, toBinding(value)]))
}

/** Returns the declarations of bindings after checking that they are TypeScript. */
export function declared(bindings: Bindings): string {
  const text = declareBindings(bound(bindings))
  parseCell(text)
  return text
}
