// Cases of the handle suite: disposing of host objects, classes of the host, and agents.
import assert from "node:assert/strict"
import { defineCase, memberOf } from "./handles-case.ts"

export const classCases = {
  340: defineCase("a disposable of the host is disposed at the end of its block", {
    host: () => ({ gone: [] as string[] }),
    inject: ({ gone }) => ({ open: (name: string) => ({ name, [Symbol.dispose]: () => void gone.push(name) }) }),
    typescript: "{ await using file = await $open('f'); await file.name }\n1",
    notApplicable: { python: "Python has no disposal of JavaScript" },
    holds: ({ host: { gone } }) => assert.deepEqual(gone, ["f"]),
  }),
  345: defineCase("a class that was injected makes instances at the host", {
    host: () => ({ Lamp }),
    typescript: "const made = await new $Lamp('desk')\n;[await made.name, await made.dim(5)]",
    python: "made = $Lamp('desk')\n[made.name, made.dim(5)]",
    value: ["desk", "desk 5"],
    holds: async ({ retrieve }) => {
      const made = await retrieve("made")
      assert.ok(made instanceof Lamp)
      assert.equal(made.level, 5)
    },
  }),
  346: defineCase("static methods and fields of a class are used", {
    host: () => ({ Lamp }),
    typescript: "const made = await $Lamp.named('hall')\n;[await $Lamp.kind, await made.name]",
    python: "made = $Lamp.named('hall')\n[$Lamp.kind, made.name]",
    value: ["lamp", "hall"],
  }),
  347: defineCase("instanceof and isinstance know the classes of host objects", {
    host: () => ({ Lamp, Bright, lamp: new Lamp("a"), bright: new Bright("b"), other: new Other() }),
    typescript:
      "[$lamp instanceof $Lamp, $bright instanceof $Lamp, $lamp instanceof $Bright, $other instanceof $Lamp, 5 instanceof $Lamp]",
    python:
      "[isinstance($lamp, $Lamp), isinstance($bright, $Lamp), isinstance($lamp, $Bright), isinstance($other, $Lamp), isinstance(5, $Lamp)]",
    value: [true, true, false, false, false],
  }),
  348: defineCase("an instance that a cell made is an instance of its class", {
    host: () => ({ Lamp }),
    typescript: "const made = await new $Lamp('x')\nmade instanceof $Lamp",
    python: "made = $Lamp('x')\nisinstance(made, $Lamp)",
    value: true,
  }),
  349: defineCase("a class that is passed to the host is the class itself", {
    host: () => ({ Lamp }),
    typescript: "await $take($Lamp)",
    holds: ({ taken }) => assert.equal(taken[0], Lamp),
  }),
  350: defineCase("a constructor that throws fails the cell with its message", {
    host: () => ({ Lamp }),
    typescript: "await new $Lamp('')",
    python: "$Lamp('')",
    error: /needs a name/,
  }),
  351: defineCase("a function with new is an error and not a crash", {
    host: () => ({ act: () => 1 }),
    typescript: "await new $act()",
    notApplicable: { python: "Python makes an instance by a call" },
    error: /constructor/,
  }),
  355: defineCase("an agent is run from a cell and returns its result", {
    host: () => agent(),
    inject: ({ cleaner }) => ({ cleaner }),
    typescript: "const result = await $cleaner.run('tidy up')\nresult.output",
    python: "result = $cleaner.run('tidy up')\nresult['output']",
    value: "cleaned",
    holds: ({ host: { prompts } }) => assert.deepEqual([prompts.length, prompts[0]?.[0]], [1, "tidy up"]),
  }),
  356: defineCase("options of an agent's run are an object in TypeScript and keywords in Python", {
    host: () => agent(),
    inject: ({ cleaner }) => ({ cleaner }),
    typescript: "const result = await $cleaner.run('tidy up', { values: { room: 3 } })\nresult.output",
    python: "result = $cleaner.run('tidy up', values={'room': 3})\nresult['output']",
    value: "cleaned",
    holds: ({ host: { prompts } }) => assert.deepEqual(memberOf(prompts[0]?.[1], "values"), { room: 3 }),
  }),
  357: defineCase("an agent is retrieved and given back as itself", {
    host: () => agent(),
    inject: ({ cleaner }) => ({ cleaner }),
    typescript: "await $take($cleaner)",
    async holds({ taken, retrieve, host: { cleaner } }) {
      assert.equal(taken[0], cleaner)
      assert.equal(await retrieve("cleaner"), cleaner)
    },
  }),
  358: defineCase("keywords of Python find the parameters of a host method by their names", {
    host: () => ({ lamp: new Lamp("k") }),
    python: "[$lamp.place(y=2, x=1), $lamp.place(1, y=5)]",
    value: ["1/2", "1/5"],
    notApplicable: { typescript: "TypeScript has no keyword arguments" },
  }),
} as const

class Lamp {
  static kind = "lamp"
  static named(name: string) {
    return new Lamp(name)
  }
  level = 1
  readonly name: string
  constructor(name: string) {
    if (name === "") throw new RangeError("a lamp needs a name")
    this.name = name
  }
  dim(to: number) {
    this.level = to
    return `${this.name} ${to}`
  }
  place(x: number, y: number) {
    return `${x}/${y}`
  }
}

class Bright extends Lamp {}

class Other {
  size() {
    return 0
  }
}

function agent() {
  const prompts: [string, object | undefined][] = []
  const cleaner = {
    name: "cleaner",
    run(prompt: string, options?: object) {
      prompts.push([prompt, options])
      return { settled: Promise.resolve({ status: "done", output: "cleaned" }), async [Symbol.asyncDispose]() {} }
    },
    session() {},
    describe: () => "Cleans",
    with() {},
  }
  return { prompts, cleaner }
}
