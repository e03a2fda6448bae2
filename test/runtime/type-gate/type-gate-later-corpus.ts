import { z } from "zod"
import { type Bindings, classType, fn, variable } from "../../../src/runtime/bindings.ts"
import type { BadCell, GoodCell } from "./type-gate-corpus.ts"

const task = () => ({ name: "a", done: false })

/** Bindings with written types. */
export function laterBindings(): Bindings {
  return {
    tasks: variable([task()], { type: "{ name: string; done: boolean }[]" }),
    Task: classType(z.object({ name: z.string(), done: z.boolean() })),
    todo: variable([task()], { type: "Task[]" }),
    one: variable(task(), { type: "Task" }),
    byId: variable(new Map([[1, { name: "m" }]]), { type: "Map<number, { name: string }>" }),
    getTask: fn(async () => task(), { signature: "() => Promise<Task>" }),
    getTasks: fn(async () => [task(), task()], { signature: "() => Promise<Task[]>" }),
  }
}

/** Earlier cells added members that the types do not have. None of these cells may be refused. */
export const goodLater: GoodCell[] = [
  {
    title: "rows enriched before",
    before: ["for (const t of tasks) t.priority = 1"],
    code: "tasks.map((t) => t.priority)",
  },
  {
    title: "rows enriched before by forEach",
    before: ["todo.forEach((t, at) => { t.rank = at })"],
    code: "todo.toSorted((a, b) => a.rank - b.rank)[0].rank + 1",
  },
  { title: "a row enriched before", before: ["tasks[0].note = 'x'"], code: "tasks.at(0).note.length" },
  {
    title: "a row enriched before, destructured",
    before: ["tasks[0].note = 'x'"],
    code: "tasks.map(({ name, note }) => name + note)",
  },
  {
    title: "rows counted in before",
    before: ["for (const t of tasks) { t.seen ??= 0; t.seen += 1 }"],
    code: "tasks.reduce((sum, t) => sum + t.seen, 0)",
  },
  {
    title: "a wider row pushed before",
    before: ["tasks.push({ name: 'x', done: false, extra: 1 })"],
    code: "tasks.at(-1).extra.toFixed()",
  },
  { title: "an object enriched before", before: ["one.owner = { name: 'Ann' }"], code: "one.owner.name" },
  { title: "an object assigned to before", before: ["Object.assign(one, { owner: 'Ann' })"], code: "one.owner.length" },
  {
    title: "an object that got unknown members before",
    before: ['Object.assign(one, JSON.parse(\'{"owner": "Ann"}\'))'],
    code: "one.owner.length",
  },
  {
    title: "rows that got members by keys only the program knows",
    before: ["for (const key of ['x', 'y']) for (const t of tasks) t[key] = 1"],
    code: "tasks.map((t) => t.x + t.y)",
  },
  {
    title: "an object with a property defined before",
    before: ["Object.defineProperty(one, 'label', { get: () => 'x', configurable: true })"],
    code: "one.label.length",
  },
  { title: "a result enriched before", before: ["const t = await getTask()", "t.tags = ['a']"], code: "t.tags.length" },
  {
    title: "a result in a list enriched before",
    before: ["const list = [await getTask()]", "list[0].tags = ['a']"],
    code: "list.map((each) => each.tags.length)",
  },
  {
    title: "results enriched by a helper",
    before: ["const list = await getTasks()\nfunction enrich(l) { for (const x of l) x.score = 1 }", "enrich(list)"],
    code: "list.reduce((sum, each) => sum + each.score, 0)",
  },
  {
    title: "a found row enriched, all asked",
    before: ["const found = tasks.find((t) => t.name === 'a')\nfound.seen = true"],
    code: "tasks.filter((t) => t.seen).length",
  },
  {
    title: "rows enriched under another name",
    before: ["const mine = tasks\nmine.forEach((m) => { m.flag = 1 })"],
    code: "tasks.map((t) => t.flag)",
  },
  {
    title: "values of a map enriched",
    before: ["for (const [id, v] of byId) v.id = id"],
    code: "[...byId.values()].map((v) => v.id)",
  },
  {
    title: "an instance of a cell's class enriched before",
    before: ["class Box { size = 1 }\nconst box = new Box()", "box.label = () => 'x'"],
    code: "box.label().length",
  },
  {
    title: "a cell's class extended before",
    before: [
      "class Box { size = 1 }",
      "Box.prototype.twice = function () { return this.size * 2 }\nBox.make = () => new Box()",
    ],
    code: "Box.make().twice() + new Box().twice()",
  },
  {
    title: "an injected list replaced by wider rows before",
    before: ["tasks = tasks.map((t) => ({ ...t, id: 1 }))"],
    code: "tasks.map((t) => t.id)",
  },
  {
    title: "an injected list replaced by wider rows in the same cell",
    code: "tasks = tasks.map((t) => ({ ...t, id: 1 }))\ntasks[0].id.toFixed()",
  },
  {
    title: "a variable of the cell replaced by wider rows",
    code: "let list = await getTasks()\nlist = list.map((t) => ({ ...t, id: 1 }))\nlist[0].id.toFixed()",
  },
  {
    title: "a list that got other things before",
    before: ["const list = [1, 2]", "list.push('x')"],
    code: "list.at(-1).toUpperCase()",
  },
  {
    title: "a row put in by its position",
    before: ["const wide = { name: 'w', done: true, size: 3 }\ntasks[0] = wide"],
    code: "tasks.map((t) => t.size)",
  },
]

/** Cells that must be refused although earlier cells added members. */
export const badLater: BadCell[] = [
  {
    title: "another member than the one that was given",
    before: ["for (const t of todo) t.priority = 1"],
    code: "todo.map((t) => t.importance)",
    names: "importance",
  },
  {
    title: "a missing await on what has a given member",
    before: ["const t = await getTask()\nt.score = 1"],
    code: "getTask().score",
    names: "await",
  },
  {
    title: "a method of a list that a cell gave to something else",
    before: ["const queue = { first: () => 1 }"],
    code: "(await getTasks()).first()",
    names: "first",
  },
  {
    title: "a misspelt name after many cells",
    before: ["let total = 0", "for (const t of tasks) total += t.name.length"],
    code: "totl.toFixed()",
    names: "Did you mean 'total'",
  },
  {
    title: "a wrong method on a count",
    before: ["let total = 0\nfor (const t of tasks) total += t.name.length"],
    code: "total.round()",
    names: "round",
  },
]
