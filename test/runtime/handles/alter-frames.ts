// Alterations of frames for the mutant tests.
import type { Json } from "../../../src/core/json.ts"
import type { Frame, WireObject } from "../../../src/runtime/handles/wire.ts"
import type { Alter } from "./memory-peer.ts"

/** Creates an `Alter` with its own state. */
export type Mutant = () => Alter

type To = "host" | "peer"
type Change = (message: WireObject) => WireObject | undefined

const changed = (frame: Frame, message: WireObject): Frame => ({ ...frame, message })

/** Replaces tagged values anywhere in a message. */
export function tagged(tag: string, change: (found: WireObject) => Json, to?: To): Mutant {
  return json((found) => (isObject(found) && found.$ === tag ? change(found) : found), to)
}

/** Replaces JSON values of any kind, the innermost first. Never the message itself. */
export function json(change: (found: Json, key: string | number) => Json, to?: To): Mutant {
  const visit = (found: Json, key: string | number): Json => {
    if (Array.isArray(found)) return change(found.map(visit), key)
    if (!isObject(found)) return change(found, key)
    return change(visitMembers(found), key)
  }
  const visitMembers = (found: WireObject) =>
    Object.fromEntries(Object.entries(found).map(([key, member]) => [key, visit(member, key)]))
  return () => (frame, way) =>
    to === undefined || to === way ? { ...changed(frame, visitMembers(frame.message)), special: true } : frame
}

/** Changes the operations that the peer asks for. */
export function operations(change: Change, only?: string): Mutant {
  return () => (frame, to) => {
    const { message } = frame
    if (to !== "host" || message.k !== "op" || (only !== undefined && message.op !== only)) return frame
    const made = change(message)
    return made && changed(frame, made)
  }
}

/** Changes the path of the operations that the peer asks for. */
export function paths(change: (path: string[]) => string[]): Mutant {
  return operations((message) => ({ ...message, p: change((message.p as string[]) ?? []) }))
}

/** Replaces a member name in the peer's operations. */
export function renamed(from: string, to = "nothing"): Mutant {
  return json((found, key) => {
    if (key === "p" && Array.isArray(found)) return found.map((name) => (name === from ? to : name))
    return isObject(found) && found.$ === "hm" && found.name === from ? { ...found, name: to } : found
  }, "host")
}

/** Changes the arguments of calls that the peer makes, of all or of one method. */
export function callArguments(change: (args: Json[]) => Json[], method?: string): Mutant {
  return operations((message) => {
    const path = message.p as string[]
    if (message.op !== "call" && message.op !== "new") return message
    if (method !== undefined && path.at(-1) !== method) return message
    const [args, named] = message.v as [Json[], Json]
    return { ...message, v: [change(args), named] }
  })
}

/** Sends the calls of one function binding to another, or to another object. */
export function swapped(from: string, to: string, when: (time: number) => boolean = () => true): Mutant {
  return () => {
    const ids = new Map<string, number>()
    let times = 0
    const learn = json((found) => {
      if (isObject(found) && found.$ === "h" && typeof found.b === "string" && typeof found.id === "number") {
        ids.set(found.b.replace(/_\d+$/, ""), found.id)
      }
      return found
    }, "peer")()
    const isFrom = (id: Json | undefined) => id !== undefined && id === ids.get(from) && when(times++)
    const target = () => ids.get(to) ?? 0
    return (frame, way) => {
      if (way === "peer") return learn(frame, way) ?? frame
      const swap = json((found, key) => {
        if (key === "t" && isFrom(found)) return target()
        return isObject(found) && found.$ === "h" && isFrom(found.id) ? { $: "h", id: target() } : found
      }, "host")()
      return swap(frame, way)
    }
  }
}

/** Changes the host's answers to operations. */
export function answers(change: (reply: WireObject, operation: WireObject) => WireObject): Mutant {
  return () => {
    const asked = new Map<Json, WireObject>()
    return (frame, to) => {
      const { message } = frame
      if (to === "host") {
        if (message.k === "op" && message.i !== undefined) asked.set(message.i, message)
        return frame
      }
      const operation = message.k === "reply" || message.k === "fail" ? asked.get(message.i ?? 0) : undefined
      return operation ? { ...changed(frame, change(message, operation)), special: true } : frame
    }
  }
}

/** Changes the value that the host answers with. */
export function results(change: (value: Json) => Json): Mutant {
  return answers((message) => (message.k === "reply" ? { ...message, v: change(message.v ?? null) } : message))
}

/** Turns failures of the host into results. */
export const failuresAsResults: Mutant = answers(({ i = 0, ...message }) =>
  message.k === "fail" ? { k: "reply", i, v: { $: "u" } } : { i, ...message },
)

/** Changes requests of the host to the peer, such as a call of a cell's function. */
export function asks(op: string, change: Change): Mutant {
  return () => (frame, to) => {
    const { message } = frame
    if (to !== "peer" || message.k !== "ask" || message.op !== op) return frame
    const made = change(message)
    return made && changed(frame, made)
  }
}

/** Changes the peer's answers to one kind of request. */
export function peerAnswers(op: string, change: (message: WireObject) => WireObject): Mutant {
  return () => {
    const asked = new Set<Json>()
    return (frame, to) => {
      const { message } = frame
      if (to === "peer") {
        if (message.k === "ask" && message.op === op && message.i !== undefined) asked.add(message.i)
        return frame
      }
      if ((message.k !== "reply" && message.k !== "fail") || !asked.has(message.i ?? 0)) return frame
      return { ...changed(frame, change(message)), special: true }
    }
  }
}

/** Changes how a cell ended: its summary and its value. */
export function cells(change: (summary: WireObject, value: Json) => [WireObject, Json]): Mutant {
  return peerAnswers("execute", (message) => {
    if (message.k !== "reply" || !Array.isArray(message.v) || !isObject(message.s)) return message
    const [value = { $: "u" }, ...rest] = message.v
    const [summary, changedValue] = change(message.s, value)
    return { ...message, s: summary, v: [changedValue, ...rest] }
  })
}

/** Turns failed cells into successful ones. */
export const failedCellsAsDone: Mutant = cells(({ error: _, ...summary }, value) => [summary, value])

/** Changes the error of a cell. */
export function cellErrors(change: (error: WireObject) => WireObject): Mutant {
  return cells((summary, value) => [
    isObject(summary.error) ? { ...summary, error: change(summary.error) } : summary,
    value,
  ])
}

export function hints(change: (hints: readonly Json[]) => Json[]): Mutant {
  return cells(({ hints: found, ...summary }, value) => [
    { ...summary, hints: change(Array.isArray(found) ? found : []) },
    value,
  ])
}

/** Changes the value of a cell. */
export function values(change: (value: Json) => Json): Mutant {
  return cells((summary, value) => [summary, change(value)])
}

/** Changes shapes of host objects. */
export function shapes(change: (shape: WireObject) => WireObject): Mutant {
  return tagged("sh", change, "peer")
}

/** Drops messages of a kind. */
export function dropped(kind: string): Mutant {
  return () => (frame) => (frame.message.k === kind ? undefined : frame)
}

/** Changes the number of an object each time it is sent. */
export function renumbered(tag: "h" | "p", to: To): Mutant {
  return () => {
    const seen = new Set<Json>()
    return tagged(
      tag,
      (found) => {
        const { id = 0 } = found
        if (!seen.has(id)) {
          seen.add(id)
          return found
        }
        return { ...found, id: Number(id) + 100_000 }
      },
      to,
    )()
  }
}

/** Swaps the first two matching frames. */
export function reordered(fits: (message: WireObject) => boolean): Mutant {
  return () => {
    let held: Frame | undefined
    let isDone = false
    return (frame) => {
      if (isDone || !fits(frame.message)) return frame
      if (!held) {
        held = frame
        return undefined
      }
      isDone = true
      return [frame, held]
    }
  }
}

/** Replaces the execution id of operations by the id of the first or the newest cell. */
export function executions(which: "first" | "newest"): Mutant {
  return () => {
    let first: Json | undefined
    let newest: Json | undefined
    return (frame, to) => {
      const { message } = frame
      if (to === "peer" && message.k === "ask" && message.op === "execute") {
        newest = message.x
        first ??= message.x
      }
      const x = which === "first" ? first : newest
      return to === "host" && message.k === "op" && x !== undefined ? changed(frame, { ...message, x }) : frame
    }
  }
}

/** Adds a call of a host function whenever a cell ends. */
export function callsByItself(name: string): Mutant {
  return () => {
    const ids = new Map<string, number>()
    let x: Json = ""
    const learn = json((found) => {
      if (isObject(found) && found.$ === "h" && typeof found.b === "string" && typeof found.id === "number") {
        ids.set(found.b.replace(/_\d+$/, ""), found.id)
      }
      return found
    }, "peer")()
    let asked = 1_000_000
    return (frame, to) => {
      const { message } = frame
      if (to === "peer") {
        if (message.k === "ask" && message.op === "execute") x = message.x ?? ""
        return learn(frame, to) ?? frame
      }
      const t = ids.get(name)
      if (message.k !== "reply" || x === "" || t === undefined) return frame
      const call = { k: "op", i: ++asked, x, op: "call", t, p: [], v: [[], {}] }
      return [{ message: call, buffers: [], special: true }, frame]
    }
  }
}

/** Releases objects that a cell still holds. */
export function releasesTooMuch(title: RegExp): Mutant {
  return () => {
    const due: Json[] = []
    const learn = tagged(
      "h",
      (found) => {
        if (typeof found.b === "string" && title.test(found.b)) due.push([found.id ?? 0, 1_000])
        return found
      },
      "peer",
    )()
    return (frame, to) => {
      if (to === "peer") return learn(frame, to) ?? frame
      if (due.length === 0) return frame
      const release = { k: "release", ids: due.splice(0) }
      return [{ message: release, buffers: [], special: false }, frame]
    }
  }
}

export function isObject(value: Json | undefined): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
