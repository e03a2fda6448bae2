import { z } from "zod"

/** A zod schema, its declared types, and values that it accepts and refuses. */
export interface SchemaKind {
  schema: z.ZodType
  /** The type of an argument, as TypeScript has it. */
  input: string
  /** The type of a result. Default: the type of an argument. */
  output?: string
  /** The type of an argument, as Python has it. */
  python: string
  /** A value that the schema accepts. */
  good: unknown
  /** A value that the schema refuses; absent if it accepts any. */
  bad?: unknown
  /** Whether a tool, whose arguments are JSON, can have it as a member. */
  tool: boolean
}

/** The good value of a schema that accepts no value. */
export const noGoodValue = Symbol("no good value")

class Account {
  owner = "Ann"
}

interface Tree {
  at: Date
  next?: Tree | undefined
}

const tree: z.ZodType<Tree> = z.object({
  at: z.date(),
  get next() {
    return tree.optional()
  },
})

const day = new Date(0)

/** Every kind of schema that zod 4 has. The title is the kind. */
export const schemaKinds: Record<string, SchemaKind> = {
  string: { schema: z.string(), input: "string", python: "str", good: "a", bad: 1, tool: true },
  number: { schema: z.number(), input: "number", python: "float", good: 1, bad: "a", tool: true },
  int: { schema: z.int(), input: "number", python: "int", good: 1, bad: 1.5, tool: true },
  boolean: { schema: z.boolean(), input: "boolean", python: "bool", good: true, bad: 1, tool: true },
  bigint: { schema: z.bigint(), input: "bigint", python: "int", good: 1n, bad: 1, tool: false },
  symbol: { schema: z.symbol(), input: "symbol", python: "Any", good: Symbol("a"), bad: 1, tool: false },
  undefined: { schema: z.undefined(), input: "undefined", python: "None", good: undefined, bad: 1, tool: false },
  null: { schema: z.null(), input: "null", python: "None", good: null, bad: 1, tool: true },
  any: { schema: z.any(), input: "unknown", python: "Any", good: 1, tool: true },
  unknown: { schema: z.unknown(), input: "unknown", python: "Any", good: 1, tool: true },
  never: { schema: z.never(), input: "never", python: "None", good: noGoodValue, bad: 1, tool: true },
  void: { schema: z.void(), input: "void", python: "None", good: undefined, bad: 1, tool: false },
  date: { schema: z.date(), input: "Date", python: "datetime", good: day, bad: "a", tool: false },
  "optional date": {
    schema: z.date().optional(),
    input: "Date | undefined",
    python: "datetime = ...",
    good: undefined,
    bad: 1,
    tool: false,
  },
  "nullable date": {
    schema: z.date().nullable(),
    input: "Date | null",
    python: "datetime | None",
    good: null,
    bad: 1,
    tool: false,
  },
  array: { schema: z.array(z.date()), input: "Date[]", python: "list[datetime]", good: [day], bad: [1], tool: false },
  object: {
    schema: z.object({ at: z.date(), to: z.date().optional() }),
    input: "{ at: Date; to?: Date }",
    python: "datetime, to: datetime = ...",
    good: { at: day },
    bad: { at: 1 },
    tool: false,
  },
  "loose object": {
    schema: z.looseObject({ at: z.string() }),
    input: "{ at: string } & Record<string, unknown>",
    python: "str",
    good: { at: "a", more: 1 },
    bad: {},
    tool: true,
  },
  "strict object": {
    schema: z.strictObject({ at: z.bigint() }),
    input: "{ at: bigint }",
    python: "int",
    good: { at: 1n },
    bad: { at: 1n, more: 1 },
    tool: false,
  },
  union: {
    schema: z.union([z.string(), z.bigint()]),
    input: "string | bigint",
    python: "str | int",
    good: 1n,
    bad: 1,
    tool: false,
  },
  xor: {
    schema: z.xor([z.string(), z.date()]),
    input: "string | Date",
    python: "str | datetime",
    good: "a",
    bad: 1,
    tool: false,
  },
  "discriminated union": {
    schema: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), at: z.date() }),
      z.object({ kind: z.literal("b") }),
    ]),
    input: '{ kind: "a"; at: Date } | { kind: "b" }',
    python: "Input | Input2",
    good: { kind: "b" },
    bad: { kind: "c" },
    tool: false,
  },
  intersection: {
    schema: z.intersection(z.object({ at: z.date() }), z.object({ size: z.bigint() })),
    input: "{ at: Date; size: bigint }",
    python: "datetime, size: int",
    good: { at: day, size: 1n },
    bad: { at: day },
    tool: false,
  },
  record: {
    schema: z.record(z.string(), z.date()),
    input: "Record<string, Date>",
    python: "",
    good: { a: day },
    bad: { a: 1 },
    tool: false,
  },
  "partial record": {
    schema: z.partialRecord(z.enum(["a"]), z.string()),
    input: 'Partial<Record<"a", string>>',
    python: "",
    good: {},
    bad: { a: 1 },
    tool: true,
  },
  map: {
    schema: z.map(z.string(), z.date()),
    input: "Map<any, any>",
    python: "dict[Any, Any]",
    good: new Map([["a", day]]),
    bad: {},
    tool: false,
  },
  set: { schema: z.set(z.date()), input: "Set<any>", python: "set[Any]", good: new Set([day]), bad: [], tool: false },
  enum: {
    schema: z.enum(["a", "b"]),
    input: '"a" | "b"',
    python: 'Literal["a", "b"]',
    good: "a",
    bad: "c",
    tool: true,
  },
  literal: { schema: z.literal("a"), input: '"a"', python: 'Literal["a"]', good: "a", bad: "b", tool: true },
  "literal that JSON has no form for": {
    schema: z.literal(["a", undefined, 5n]),
    input: '"a" | bigint | undefined',
    python: 'Literal["a"] | int | None',
    good: 5n,
    bad: 5,
    tool: false,
  },
  "template literal": {
    schema: z.templateLiteral(["a", z.number()]),
    input: "string",
    python: "str",
    good: "a1",
    bad: "b",
    tool: true,
  },
  file: { schema: z.file(), input: "File", python: "Any", good: new File([], "a"), bad: "a", tool: true },
  transform: {
    schema: z.transform(String),
    input: "unknown | undefined",
    output: "unknown",
    python: "Any = ...",
    good: 1,
    tool: false,
  },
  pipe: {
    schema: z.string().transform((text) => text.length),
    input: "string",
    output: "unknown",
    python: "str",
    good: "a",
    bad: 1,
    tool: true,
  },
  preprocess: {
    schema: z.preprocess((value) => value, z.date()),
    input: "Date | undefined",
    output: "Date",
    python: "datetime = ...",
    good: day,
    bad: 1,
    tool: false,
  },
  codec: {
    schema: z.codec(z.iso.datetime(), z.date(), {
      decode: (text) => new Date(text),
      encode: (date) => date.toISOString(),
    }),
    input: "string",
    output: "Date",
    python: "str",
    good: day.toISOString(),
    bad: "a",
    tool: true,
  },
  stringbool: {
    schema: z.stringbool(),
    input: "string",
    output: "boolean",
    python: "str",
    good: "yes",
    bad: "maybe",
    tool: true,
  },
  default: {
    schema: z.bigint().default(1n),
    input: "bigint | undefined",
    output: "bigint",
    python: "int = ...",
    good: undefined,
    bad: 1,
    tool: false,
  },
  prefault: {
    schema: z.date().prefault(day),
    input: "Date | undefined",
    output: "Date",
    python: "datetime = ...",
    good: undefined,
    bad: 1,
    tool: false,
  },
  catch: {
    schema: z.bigint().catch(1n),
    input: "bigint | undefined",
    output: "bigint",
    python: "int = ...",
    good: 1n,
    tool: false,
  },
  "catch that computes its value": {
    schema: z.string().catch((context) => String(context.issues.length)),
    input: "string | undefined",
    output: "string",
    python: "str = ...",
    good: "a",
    tool: false,
  },
  nan: { schema: z.nan(), input: "number", python: "float", good: Number.NaN, bad: 1, tool: false },
  nonoptional: {
    schema: z.nonoptional(z.date().optional()),
    input: "Date",
    python: "datetime",
    good: day,
    bad: 1,
    tool: false,
  },
  "exact optional": {
    schema: z.object({ at: z.string().exactOptional() }),
    input: "{ at?: string }",
    python: "str = ...",
    good: {},
    bad: { at: 1 },
    tool: true,
  },
  success: { schema: z.success(z.date()), input: "boolean", python: "bool", good: day, tool: true },
  readonly: { schema: z.date().readonly(), input: "Date", python: "datetime", good: day, bad: 1, tool: false },
  promise: { schema: z.promise(z.date()), input: "Promise<any>", python: "Any", good: day, bad: 1, tool: false },
  lazy: { schema: z.lazy(() => z.date()), input: "Date", python: "datetime", good: day, bad: 1, tool: false },
  recursive: {
    schema: tree,
    input: "Call",
    python: "datetime, next: Any = ...",
    good: { at: day },
    bad: {},
    tool: false,
  },
  json: {
    schema: z.json(),
    input: "Call",
    python: "str | float | bool | list[Any] | dict | None",
    good: [1],
    bad: 1n,
    tool: true,
  },
  custom: {
    schema: z.custom((value) => value === 1),
    input: "unknown",
    python: "Any",
    good: 1,
    bad: 2,
    tool: false,
  },
  "instanceof a class of the language": {
    schema: z.instanceof(URL),
    input: "URL",
    python: "Any",
    good: new URL("http://localhost"),
    bad: "a",
    tool: false,
  },
  "instanceof a class of the user": {
    schema: z.instanceof(Account),
    input: "unknown",
    python: "Any",
    good: new Account(),
    bad: {},
    tool: false,
  },
  function: {
    schema: z.function({ input: [z.string()], output: z.number() }),
    input: "Function",
    python: "Callable",
    good: () => {},
    bad: 1,
    tool: false,
  },
  "coerced date": {
    schema: z.coerce.date(),
    input: "number | string | Date",
    output: "Date",
    python: "float | str | datetime",
    good: "2026-01-01",
    bad: "a",
    tool: true,
  },
  "coerced bigint": {
    schema: z.coerce.bigint(),
    input: "number | string | bigint",
    output: "bigint",
    python: "float | str | int",
    good: "12",
    bad: "a",
    tool: true,
  },
  "coerced string": {
    schema: z.coerce.string(),
    input: "unknown",
    output: "string",
    python: "Any",
    good: 1,
    tool: true,
  },
  refined: {
    schema: z.date().refine((date) => date.getTime() === 0),
    input: "Date",
    python: "datetime",
    good: day,
    bad: new Date(1),
    tool: false,
  },
}
