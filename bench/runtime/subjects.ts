// The runtimes that the runtime benchmarks measure.
import type { Bindings, Runtime } from "karst"
import { requires } from "../../test/system.ts"
import type { Karst } from "../built.ts"
import type { Absent } from "../report.ts"

/** A kind of runtime under measurement. */
export interface Subject {
  name: string
  open(bindings?: Bindings): Runtime
  code: Cells
  /** Records in the form this runtime takes many of them. */
  records(rows: Row[]): object[]
  /** How often it is started, and how many cells make one round: what takes long is repeated less. */
  starts: number
  cells: number
}

/** What is measured, in the subject's language. */
interface Cells {
  /** As little as a cell can do; a new text each time, as a model's are. */
  trip(number: number): string
  /** One that makes names. */
  small(number: number): string
  hostCalls(count: number): string
  methodCalls(count: number): string
  /** Looks at injected rows, so that what is sent late is sent. */
  touch(name: string): string
  /** Makes records there. */
  make(count: number): string
}

const typescript: Cells = {
  trip: (number) => `${number} + 1`,
  small: (number) => `const n${number % 50}: number = ${number}\nn${number % 50} + 1`,
  hostCalls: (count) => `for (let i = 0; i < ${count}; i++) await add(i, 1)`,
  methodCalls: (count) => `for (let i = 0; i < ${count}; i++) await lamp.dim(i)`,
  touch: (name) => `${name}.length`,
  make: (count) =>
    `const made = Array.from({ length: ${count} }, (_, id) => ({ id, customer: \`customer \${id % 97}\`, amount: id / 7 }))`,
}

const python: Cells = {
  trip: (number) => `${number} + 1`,
  small: (number) => `n${number % 50}: int = ${number}\nn${number % 50} + 1`,
  hostCalls: (count) => `for i in range(${count}): add(i, 1)`,
  methodCalls: (count) => `for i in range(${count}): lamp.dim(i)`,
  touch: (name) => `len(${name})`,
  make: (count) =>
    `import pandas\nmade = pandas.DataFrame([(i, f"customer {i % 97}", i / 7) for i in range(${count})])`,
}

/** The runtimes that can be had on this machine, and why the others cannot. */
export function availableSubjects(karst: Karst): { subjects: Subject[]; absent: Absent[] } {
  const { jsRuntime, processRuntime, pythonRuntime, table } = karst
  const inTypeScript = { code: typescript, records: (rows: Row[]) => rows, cells: 100 }
  const candidates: { subject: Subject; missing?: string | undefined }[] = [
    { subject: { name: "js", open: (bindings) => jsRuntime(bindings), starts: 50, ...inTypeScript } },
    { subject: { name: "process", open: (bindings) => processRuntime(bindings), starts: 15, ...inTypeScript } },
    {
      subject: {
        name: "process+os",
        open: (bindings) => processRuntime(bindings, { isolation: "os" }),
        starts: 15,
        ...inTypeScript,
      },
      missing: requires("bwrap"),
    },
    {
      subject: {
        name: "python",
        open: (bindings) => pythonRuntime(bindings),
        starts: 4,
        code: python,
        records: table,
        cells: 20,
      },
      missing: requires("python", "pandas"),
    },
  ]
  return {
    subjects: candidates.filter(({ missing }) => missing === undefined).map(({ subject }) => subject),
    absent: candidates.flatMap(({ subject: { name }, missing }) => (missing ? [{ what: name, why: missing }] : [])),
  }
}

/** Runs a cell that must work. */
export async function execute(runtime: Runtime, code: string): Promise<void> {
  const execution = await runtime.execute(code)
  if (!execution.ok) throw new Error(`${execution.error.message}\nin:\n${code}`)
}

interface Row {
  id: number
  customer: string
  amount: number
  paid: boolean
}

/** Records as programs have them. */
export function makeRows(count: number): Row[] {
  return Array.from({ length: count }, (_, id) => ({
    id,
    customer: `customer ${id % 97}`,
    amount: ((id * 37) % 10_007) / 100,
    paid: id % 3 === 0,
  }))
}
