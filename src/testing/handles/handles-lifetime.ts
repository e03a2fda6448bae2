// Cases of the handle suite: how long handles live, and limits for what one side may request.
import assert from "node:assert/strict"
import { callable, callMember, defineCase, memberOf } from "./handles-case.ts"
import { collector } from "./handles-peers.ts"

export const lifetimeCases = {
  310: defineCase("the same host object is the same handle wherever it comes from", {
    host: () => {
      const light = new Light()
      return { light, lights: [light], room: { enter: () => 1, light }, get: () => light }
    },
    typescript:
      "[$lights[0] === $light, (await $room.light) === $light, (await $get()) === $light, (await $light.itself()) === $light]",
    python: "[$lights[0] is $light, $room.light is $light, $get() is $light, $light.itself() is $light]",
    value: [true, true, true, true],
  }),
  311: defineCase("a handle that goes back is the very object, alone and inside data", {
    host: () => ({ light: new Light() }),
    typescript: "await $take($light, [{ deep: $light }])\nconst mine = { one: $light }\n1",
    python: "$take($light, [{'deep': $light}])\nmine = {'one': $light}\n1",
    async holds({ taken, host: { light }, retrieve }) {
      assert.equal(taken[0], light)
      assert.deepEqual(taken[1], [{ deep: light }])
      assert.equal(await retrieve("light"), light)
      assert.deepEqual(await retrieve("mine"), { one: light })
    },
  }),
  312: defineCase("a method that is held keeps its object alive", {
    host: () => ({ open: () => new Light() }),
    typescript: "const up = (await $open()).up\nconst first = await up()\n;[first, await up()]",
    python: "import gc\nup = $open().up\ngc.collect()\nfirst = up()\n[first, up()]",
    value: [2, 3],
  }),
  313: defineCase("a handle works in later cells", {
    host: () => ({ open: () => new Light() }),
    typescript: ["const opened = await $open()\nawait opened.up()", "await opened.up()", "await opened.level"],
    python: ["opened = $open()\nopened.up()", "opened.up()", "opened.level"],
    value: 3,
  }),
  314: defineCase("a host object that cells hold no more is let go of", {
    host: () => ({ made: [] as WeakRef<object>[] }),
    inject: ({ made }) => ({
      make() {
        const light = new Light()
        made.push(new WeakRef(light))
        return light
      },
    }),
    typescript: "for (let i = 0; i < 20; i++) await $make()\n1",
    python: "for _ in range(20): $make()\n1",
    async holds({ host: { made }, value }) {
      const collect = await collector()
      const peerCollect = {
        typescript:
          "const { setFlagsFromString } = await import('node:v8')\nsetFlagsFromString('--expose-gc')\n;(await import('node:vm')).runInNewContext('gc')()\nawait new Promise((go) => setTimeout(go, 2))\n1",
        python: "import gc\ngc.collect()\n1",
      }
      for (let turn = 0; turn < 25; turn++) {
        await value(peerCollect)
        collect()
        await new Promise(setImmediate)
        if (made.filter((ref) => ref.deref()).length < 5) return
      }
      assert.fail("The objects are still held.")
    },
  }),
  315: defineCase("more live handles than there may be are an error that names the number and the cure", {
    ownRuntime: true,
    host: () => ({ many: (count: number) => Array.from({ length: count }, () => new Light()) }),
    typescript: "let said = ''\ntry { await $many(20_000) } catch (error) { said = error.message }\nsaid",
    python: "said = ''\ntry:\n    $many(20_000)\nexcept Exception as error:\n    said = str(error)\nsaid",
    async holds({ last, value }) {
      assert.ok(last.ok)
      assert.match(String(last.value), /10[,_]?000/)
      assert.match(String(last.value), /drop|let go|release|del\b|fewer/i)
      assert.equal(await value({ typescript: "(await $many(3)).length", python: "len($many(3))" }), 3)
    },
  }),
  316: defineCase("handles that were dropped make room for others", {
    host: () => ({ many: (count: number) => Array.from({ length: count }, () => new Light()) }),
    typescript:
      "const gc = (await import('node:v8'), (await import('node:v8')).setFlagsFromString('--expose-gc'), (await import('node:vm')).runInNewContext('gc'))\nlet total = 0\nfor (let i = 0; i < 6; i++) { total += (await $many(3_000)).length; for (let n = 0; n < 3; n++) { gc(); await new Promise((go) => setTimeout(go, 2)) } }\ntotal",
    python: "import gc\ntotal = 0\nfor _ in range(6):\n    total += len($many(3_000))\n    gc.collect()\ntotal",
    value: 18_000,
  }),
  317: defineCase("a host object survives a reset of the namespace", {
    ownRuntime: true,
    host: () => ({ light: new Light() }),
    typescript: "await $light.up()",
    value: 2,
    async holds({ runtime, value, host: { light }, retrieve }) {
      await runtime.reset()
      assert.equal(await value({ typescript: "await $light.up()", python: "$light.up()" }), 3)
      assert.equal(light.level, 3)
      assert.equal(await retrieve("light"), light)
    },
  }),
  321: defineCase("functions and objects of cells are gone after a reset, with the code gone", {
    ownRuntime: true,
    host: () => ({ light: new Light() }),
    typescript: "class Model { n = 1; get() { return 1 } }\nawait $take((n) => n, new Model())",
    python: "class Model:\n    n = 1\n    def get(self): return 1\n$take(lambda n: n, Model())",
    async holds({ runtime, value, taken: [callback, model] }) {
      assert.equal(await callable(callback)(1), 1)
      await runtime.reset()
      const isGone = { code: "gone", message: /is gone: .*(reset|ended)/ }
      await assert.rejects(async () => await callable(callback)(1), isGone)
      await assert.rejects(async () => await callMember(model, "get"), isGone)
      await assert.rejects(async () => await memberOf(model, "n"), isGone)
      assert.equal(await value({ typescript: "1 + 1", python: "1 + 1" }), 2)
    },
  }),
  322: defineCase("the error for a value that cannot cross names the argument, the cause and the cure", {
    host: () => ({ light: new Light() }),
    typescript: [
      "await $take(1, { a: [$light.level] })",
      "await $light.set([$light.level])",
      "$light.level = $light.level",
      "await $take(Promise.resolve(1))",
    ],
    python: [
      "async def later(): pass\n$take(1, {'a': [later()]})",
      "$light.set([later()])",
      "$light.level = later()",
      "$take(later())",
    ],
    errors: /(Arg|arg)ument \d of (take|light\.set)\(…\).*await|value for light\.level.*await/,
    holds: ({ executions }) => {
      const [first] = executions
      assert.match(first?.ok ? "" : (first?.error.message ?? ""), /[Aa]rgument 2 of take_\d+\(…\), at .*a/)
    },
  }),
  318: defineCase("a message that is nested far too deeply is an error, and host and runtime live on", {
    host: () => ({ hold: () => {} }),
    typescript: [
      "let deep = {}\nfor (let i = 0; i < 100_000; i++) deep = { deep }\nlet said = ''\ntry { await $take(deep) } catch (error) { said = error.message }\nsaid",
      "await $echo(1)",
    ],
    python: [
      "deep = {}\nfor _ in range(100_000): deep = {'deep': deep}\nsaid = ''\ntry:\n    $take(deep)\nexcept Exception as error:\n    said = str(error)\nsaid",
      "$echo(1)",
    ],
    value: 1,
    holds({ executions: [first], taken }) {
      assert.ok(first?.ok)
      assert.match(String(first.value), /deep|nested|recursion/)
      assert.deepEqual(taken, [])
    },
  }),
  319: defineCase("a message of very many small parts arrives whole or is an error, and host and runtime live on", {
    typescript: "1",
    async holds({ run, value, taken }) {
      const sent = await run({
        typescript: "await $take(Array.from({ length: 300_000 }, () => []))",
        python: "$take([[] for _ in range(300_000)])",
      })
      assert.deepEqual(
        taken.map((list) => Array.isArray(list) && list.length),
        sent.ok ? [300_000] : [],
      )
      assert.equal(await value({ typescript: "await $echo(1)", python: "$echo(1)" }), 1)
    },
  }),
  320: defineCase("many calls whose answers are not yet read do not stop either side", {
    host: () => ({ text: (n: number) => `${n}`.repeat(2_000) }),
    typescript:
      "const all = await Promise.all(Array.from({ length: 1_000 }, (_, n) => $text(n % 10)))\nall.reduce((sum, text) => sum + text.length, 0)",
    python:
      "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool:\n    found = list(pool.map($text, [n % 10 for n in range(1_000)]))\nsum(len(text) for text in found)",
    value: 2_000_000,
  }),
} as const

class Light {
  level = 1
  up() {
    return ++this.level
  }
  set(level: number) {
    this.level = level
  }
  itself() {
    return this
  }
}
