// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { requires } from "../../system.ts"

class Lamp {
  level = 1
  get isOn() {
    return this.level > 0
  }
  dim(to: number) {
    this.level = to
  }
  *[Symbol.iterator]() {
    yield this.level
  }
  *walk() {
    yield 1
  }
}

const skip = requires("python") ?? false

test("objects of the host are described in Python as they behave there", { skip }, async () => {
  await using runtime = pythonRuntime({
    lamp: new Lamp(),
    frozen: Object.freeze({ watt: 60, blink: () => 1 }),
    light: variable(new Lamp(), { type: "{ readonly watt: number; dim(to: number): void }", description: "Dims." }),
    meter: variable(new Lamp(), { type: "interface Meter { level: number; walk(): Generator<number> }" }),
    levels: fn(() => new Lamp().walk(), { signature: "() => Generator<number>" }),
  })
  assert.equal(
    await runtime.describe(),
    [
      "class Lamp:",
      "    level: float",
      "    isOn: Any  # read-only",
      "    def dim(self, to=...): ...",
      "    def walk(self) -> Iterator[Any]: ...",
      "    def __iter__(self) -> Iterator[Any]: ...",
      "class Frozen:",
      "    watt: float  # read-only",
      "    def blink(self): ...",
      "class Light:",
      "    watt: float  # read-only",
      "    def dim(self, to: float) -> None: ...",
      "class Meter:",
      "    level: float",
      "    def walk(self) -> Iterator[float]: ...",
      "lamp: Lamp",
      "frozen: Frozen",
      "light: Light  # Dims.",
      "meter: Meter",
      "def levels() -> Iterator[float]: ...",
    ].join("\n"),
  )
  for (const code of ["lamp.isOn = False", "frozen.watt = 1"]) {
    const execution = await runtime.execute(code)
    assert.ok(!execution.ok, code)
  }
  for (const code of ["list(lamp)", "list(lamp.walk())", "list(levels())", "lamp.level = 2"]) {
    const execution = await runtime.execute(code)
    assert.ok(execution.ok, code)
  }
})

test("members of a base class are shown with the class, unless the base class has a declaration of its own", {
  skip,
}, async () => {
  class Base {
    static make() {}
    run() {}
  }
  class Lamp extends Base {
    dim() {}
  }
  await using alone = pythonRuntime({ Lamp })
  assert.match(await alone.describe(), /^class Lamp:\n {4}def dim[\s\S]*def run[\s\S]*@staticmethod\n {4}def make/)
  await using both = pythonRuntime({ Base, Lamp })
  assert.match(
    await both.describe(),
    /class Base:\n {4}def run[\s\S]*def make[\s\S]*class Lamp\(Base\):\n {4}def dim\(self\): \.\.\.$/,
  )
})
