// test lane: runtimes, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type DeclareTest, handleCases, testHandles } from "karst/testing"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { requires } from "../../system.ts"

/** How a kernel alters its messages, in Python: `found` is an object in a message, or the message itself. Only the
 *  cases that have no meaning in TypeScript are here; `mutants.test.ts` has the others. */
const mutants: { [number: number]: { [what: string]: string } } = {
  36: { "takes integers for floats": "if found.get('t') == 'int': found['t'] = 'float64'" },
  37: { "loses the sign of integers": "if found.get('t') == 'int64': found['t'] = 'uint64'" },
  38: { "takes integers for floats": "if found.get('t') == 'int': found['t'] = 'float64'" },
  39: { "renames columns": "if found.get('name') == 'n': found['name'] = 'm'" },
  40: { "empties sets": "if found.get('$') == 's': found['e'] = []" },
  41: { "calls with other arguments": "if found.get('op') == 'call': found['v'][0] = [7]" },
  119: { "loses the hints": "if found.get('k') == 'cell': found['hints'] = []" },
  248: { "calls with other arguments": "if found.get('op') == 'call': found['v'][0] = [7]" },
  300: { "renames columns": "if found.get('name') == 'then': found['name'] = 'than'" },
  336: { "lists something else": "if found.get('op') == 'list': found['op'] = 'members'" },
  343: { "asks for something else": "if found.get('op') == 'iterate': found['op'] = 'members'" },
  358: { "drops keywords": "if found.get('op') == 'call': found['v'][1] = {}" },
}

describe("testHandles", { skip: requires("python", "numpy", "pandas") }, () => {
  test("has an altered kernel for each case that only Python has", () => {
    const only = handleCases.filter(({ notApplicable }) => notApplicable.typescript !== undefined)
    assert.deepEqual(
      only.map(({ number }) => number),
      Object.keys(mutants).map(Number),
    )
  })

  test("passes these cases with a kernel that alters nothing", async () => {
    for (const number of Object.keys(mutants)) await run(number, "pass")
  })

  for (const [number, altered] of Object.entries(mutants)) {
    for (const [what, alter] of Object.entries(altered)) {
      test(`#${number.padStart(3, "0")} catches a kernel that ${what}`, async () => {
        await assert.rejects(run(number, alter), (error) => !/It hangs|ran longer than/.test(String(error)))
      })
    }
  }
})

async function run(number: string, alter: string): Promise<void> {
  const bodies = new Map<string, Parameters<DeclareTest>[1]>()
  let close = async () => {}
  testHandles({
    test: (title, body) => bodies.set(title.slice(0, 4), body),
    after: (given) => {
      close = given
    },
    language: "python",
    runtime: () => pythonRuntime({}, { setup: setupOf(alter) }),
  })
  const check = bodies.get(`#${number.padStart(3, "0")}`) ?? assert.fail(`No case ${number}.`)
  try {
    await check({ skip: () => assert.fail("skipped") })
  } finally {
    await close()
  }
}

/** Code that makes every message of a kernel pass an alteration before it is sent. */
function setupOf(alter: string): string {
  return `
from karst_kernel.channel import Channel as _Channel
_send = _Channel.send
def _alter(found):
    if isinstance(found, dict):
        ${alter}
    for each in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        _alter(each)
def _altered(self, message, *rest):
    _alter(message)
    return _send(self, message, *rest)
_Channel.send = _altered
`
}
