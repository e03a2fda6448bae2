// test lane: unit, long
import assert from "node:assert/strict"
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { AgentError } from "../../src/core/errors.ts"
import type { Json } from "../../src/core/json.ts"
import { searchFilesTool } from "../../src/tools/search.ts"
import type { Tool } from "../../src/tools/tool.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { scopedWorkspace } from "../../src/workspaces/scoped.ts"
import type { Workspace } from "../../src/workspaces/workspace.ts"
import fc from "../property.ts"
import { requires } from "../system.ts"
import { type Files, failure, folderWith, textOf, use } from "./use.ts"

const own = searchFilesTool({ ripgrep: false })

const files = {
  "a.ts": "import x\nconst needle = 1\nexport {}\n",
  "src/b.js": "Needle\nneedle needle\n",
  "src/c.md": "nothing\n",
  ".env": "needle=secret\n",
  "node_modules/p/index.js": "needle\n",
  "bin.dat": Buffer.from("needle\0needle"),
}

for (const [name, tool] of [
  ["its own walker", own],
  ["ripgrep", searchFilesTool()],
] as const) {
  describe(`search_files with ${name}`, { skip: name === "ripgrep" ? requires("ripgrep") : undefined }, () => {
    test("shows lines by file, counts lines, or names files", async (context) => {
      for (const workspace of [memoryWorkspace(files), await folderWith(context, files)]) {
        const content = await use(tool, { pattern: "needle" }, workspace)
        assert.equal(content.text, "a.ts\n2: const needle = 1\n\nsrc/b.js\n2: needle needle")
        assert.deepEqual(content.value, [
          { path: "a.ts", line: 2, text: "const needle = 1", match: true },
          { path: "src/b.js", line: 2, text: "needle needle", match: true },
        ])
        const counted = await use(tool, { pattern: "needle", mode: "count", ignoreCase: true }, workspace)
        assert.equal(counted.text, "a.ts: 1\nsrc/b.js: 2")
        assert.deepEqual(counted.value, [
          { path: "a.ts", count: 1 },
          { path: "src/b.js", count: 2 },
        ])
        const named = await use(tool, { pattern: "needle", mode: "files" }, workspace)
        assert.equal(named.text, "a.ts\nsrc/b.js")
        assert.deepEqual(named.value, ["a.ts", "src/b.js"])
        assert.equal(await textOf(tool, { pattern: "nowhere" }, workspace), "No matches.")
      }
    })

    test("shows lines around a match, each once, and says which match", async (context) => {
      const workspace = await folderWith(context, { a: "1\n2 x\n3\n4 x\n5\n6\n7\n8\n9 x" })
      const text = await textOf(tool, { pattern: "x", context: 1 }, workspace)
      assert.equal(text, "a\n1- 1\n2: 2 x\n3- 3\n4: 4 x\n5- 5\n--\n8- 8\n9: 9 x")
      const { value } = await use(tool, { pattern: "2 x", context: 1 }, workspace)
      assert.deepEqual(value, [
        { path: "a", line: 1, text: "1", match: false },
        { path: "a", line: 2, text: "2 x", match: true },
        { path: "a", line: 3, text: "3", match: false },
      ])
    })

    test("finds matches over several lines, and shows them all", async (context) => {
      const workspace = await folderWith(context, { a: "one {\r\n  two\r\n}\r\nthree\r\n", b: "one {}\n" })
      const text = await textOf(tool, { pattern: "one \\{.*two", multiline: true }, workspace)
      assert.equal(text, "a\n1: one {\n2:   two")
      assert.equal(await textOf(tool, { pattern: "two\\n\\}" }, workspace), "a\n2:   two\n3: }")
      assert.equal(await textOf(tool, { pattern: "two\r\n}", literal: true }, workspace), "a\n2:   two\n3: }")
      const limited = await textOf(tool, { pattern: "one.*?\\}", multiline: true, limit: 1 }, workspace)
      assert.equal(limited, "a\n1: one {\n[More: continue with offset 1, or narrow the search.]")
    })

    test("takes a text as it is with literal", async (context) => {
      const workspace = await folderWith(context, { a: "f(x) = [1]\nfx\n" })
      assert.equal(await textOf(tool, { pattern: "f(x) = [1]", literal: true }, workspace), "a\n1: f(x) = [1]")
      assert.equal(
        await textOf(tool, { pattern: "F(X)", literal: true, ignoreCase: true }, workspace),
        "a\n1: f(x) = [1]",
      )
    })

    test("looks where it is told to: path, glob, type", async (context) => {
      const workspace = await folderWith(context, files)
      const search = (input: { [key: string]: Json }) =>
        textOf(tool, { pattern: "needle|nothing", mode: "files", ...input }, workspace)
      assert.equal(await search({}), "a.ts\nsrc/b.js\nsrc/c.md")
      assert.equal(await search({ path: "src" }), "src/b.js\nsrc/c.md")
      assert.equal(await search({ path: "./src/b.js" }), "src/b.js")
      assert.equal(await search({ glob: "*.{js,md}" }), "src/b.js\nsrc/c.md")
      assert.equal(await search({ glob: "b.*", path: "src" }), "src/b.js")
      assert.equal(await search({ glob: "./*.js", path: "src" }), "src/b.js")
      assert.equal(await search({ glob: "src/[bx].js" }), "src/b.js")
      assert.equal(await search({ glob: "!*.js" }), "a.ts\nsrc/c.md")
      assert.equal(await search({ type: "md" }), "src/c.md")
      assert.equal(await search({ type: "js", glob: "src/**" }), "src/b.js")
      const inner = scopedWorkspace(workspace, "src")
      assert.equal(await textOf(tool, { pattern: "needle", mode: "files" }, inner), "b.js")
    })

    test("does not look into hidden files and packages unless it is asked to", async (context) => {
      const workspace = await folderWith(context, files)
      const search = (input: { [key: string]: Json }) =>
        textOf(tool, { pattern: "needle", mode: "files", ...input }, workspace)
      assert.equal(await search({}), "a.ts\nsrc/b.js")
      assert.equal(await search({ hidden: true }), ".env\na.ts\nnode_modules/p/index.js\nsrc/b.js")
      assert.equal(await search({ glob: ".env" }), ".env")
      assert.equal(await search({ path: "node_modules" }), "node_modules/p/index.js")
    })

    test("leaves binary files out, and reads UTF-16 with a mark", async (context) => {
      const utf16 = Buffer.from("\ufeffeins\r\nneedle\r\n", "utf16le")
      const late = Buffer.from(`${"needle\n".repeat(20_000)}\0`)
      const workspace = await folderWith(context, { late, utf16 })
      assert.equal(await textOf(tool, { pattern: "^needle$" }, workspace), "utf16\n2: needle")
    })

    test("says what is wrong with the input", async (context) => {
      const workspace = await folderWith(context, files)
      assert.match(
        await failure(tool, { pattern: "(" }, workspace),
        /^invalid-pattern: "\(" is no pattern: Unterminated group/,
      )
      assert.match(await failure(tool, { pattern: "[b-a]" }, workspace), /^invalid-pattern: .*out of order/)
      assert.match(
        await failure(tool, { pattern: "x", type: "cobol" }, workspace),
        /^unknown-type: .*There are: c, cpp/,
      )
      assert.match(await failure(tool, { pattern: "x", type: "constructor" }, workspace), /^unknown-type: /)
      assert.match(await failure(tool, { pattern: "x", offset: 1e9 }, workspace), /^offset-too-large: /)
      assert.match(await failure(tool, { pattern: "x", path: "nope" }, workspace), /^not-found: /)
      assert.match(await failure(tool, { pattern: "x", path: "../" }, workspace), /^invalid-path: /)
      assert.match(await failure(tool, { pattern: "x", glob: "../*" }, workspace), /^invalid-glob: /)
      assert.equal((await tool.accept({ pattern: "" })).ok, false)
      assert.equal((await tool.accept({ pattern: "x", mode: "lines" })).ok, false)
      assert.equal((await tool.accept({ pattern: "x", context: "many" })).ok, false)
    })

    test("bounds everything it gives, the text and the values, and goes on by the offset", async (context) => {
      const many = {
        "a.txt": "needle\n".repeat(300),
        "b.txt": `${"needle ".repeat(100_000)}\n`,
        "c.txt": "needle\n".repeat(900),
      }
      const workspace = await folderWith(context, many)
      const first = await use(tool, { pattern: "needle" }, workspace)
      assert.ok(Array.isArray(first.value) && first.value.length === 200)
      assert.match(first.text, /\n200: needle\n\[More: continue with offset 200, or narrow the search\.\]$/)
      const next = await textOf(tool, { pattern: "needle", offset: 299, limit: 3 }, workspace)
      assert.match(
        next,
        /^a\.txt\n300: needle\n\nb\.txt\n1: needle .{390,410}…\n\nc\.txt\n1: needle\n\[More: .*offset 302/,
      )
      const most = await use(tool, { pattern: "needle", limit: 100_000 }, workspace)
      assert.ok(Array.isArray(most.value) && most.value.length === 1000)
      const wide = await folderWith(context, { wide: `${"needle ".repeat(60)}\n`.repeat(500) })
      const cut = await use(tool, { pattern: "needle", limit: 500 }, wide)
      assert.ok(cut.text.length < 31_000)
      assert.ok(JSON.stringify(cut.value).length < 40_000)
      assert.match(cut.text, /\[More: continue with offset \d+, or narrow the search\.\]$/)
      const counts = await textOf(tool, { pattern: "needle", mode: "files", limit: 2 }, workspace)
      assert.equal(counts, "a.txt\nb.txt\n[More: continue with offset 2, or narrow the search.]")
      assert.equal(await textOf(tool, { pattern: "needle", offset: 5000 }, workspace), "Nothing from 5000 on.")
    })

    test("does not follow links out of the workspace", async (context) => {
      const outside = await folderWith(context, { "secret.txt": "needle" })
      const workspace = await folderWith(context, { "a.txt": "needle" })
      await symlink(outside.root, join(workspace.root, "out"))
      await symlink(join(outside.root, "secret.txt"), join(workspace.root, "secret.txt"))
      assert.equal(await textOf(tool, { pattern: "needle", mode: "files" }, workspace), "a.txt")
      assert.match(await failure(tool, { pattern: "needle", path: "out" }, workspace), /^outside-workspace: /)
    })

    test("survives a pattern that would take for ever", async (context) => {
      const workspace = await folderWith(context, { a: `${"a".repeat(200)}!\n` })
      const slow = searchFilesTool({ ripgrep: name === "ripgrep", timeoutMs: 1000 })
      const failed = await failure(slow, { pattern: "^(a+)+(?=$)" }, workspace)
      assert.match(failed, /^timeout: The search was stopped after 1 seconds\. .*without repetitions in repetitions/)
      assert.equal(await textOf(slow, { pattern: "a!", mode: "files" }, workspace), "a")
    })

    test("stops when the run does", async (context) => {
      const base = await folderWith(context, { a: `${"a".repeat(200)}!\n` })
      const controller = new AbortController()
      const workspace: Workspace = {
        ...base,
        async read(path, options) {
          const bytes = await base.read(path, options)
          // By then the worker is matching.
          setImmediate(() => setImmediate(() => controller.abort()))
          return bytes
        },
      }
      const searching = use(tool, { pattern: "^(a+)+(?=$)" }, workspace, controller.signal)
      await assert.rejects(searching, { name: "AbortError" })
    })
  })
}

describe("search_files", () => {
  test("says which files it could not search", async () => {
    const base = memoryWorkspace({ "a.txt": "needle", "b.txt": "needle", "huge.txt": "needle" })
    const workspace: Workspace = {
      ...base,
      async *list(folder, options) {
        for await (const info of base.list(folder, options))
          yield info.path === "huge.txt" ? { ...info, sizeBytes: 4e7 } : info
      },
    }
    workspace.read = async (path, options) => {
      if (path === "b.txt") throw new AgentError('"b.txt" may not be read.', { code: "not-allowed" })
      return await base.read(path, options)
    }
    const text = await textOf(own, { pattern: "needle", mode: "files" }, workspace)
    assert.equal(text, 'a.txt\n[Not searched: b.txt: "b.txt" may not be read; huge.txt: it is larger than 32 MB]')
  })

  test("holds no more for many lines than for few, and survives a pattern that needs too much memory", async () => {
    const lines = memoryWorkspace({ lines: Buffer.alloc(3_000_000, "\n") })
    assert.equal(await textOf(own, { pattern: "^$", mode: "count" }, lines), "lines: 3000000")
    const packed = memoryWorkspace({ packed: Buffer.alloc(10_000_000, "a") })
    assert.match(await failure(own, { pattern: "(?:a|b)*c" }, packed), /^pattern-too-complex: .*Write a simpler one/)
  })

  test("passes over files that are gone when it comes to them", async () => {
    const base = memoryWorkspace({ "a.txt": "needle", "b.txt": "needle" })
    const workspace: Workspace = {
      ...base,
      async read(path, options) {
        if (path === "a.txt") await base.remove("a.txt")
        return await base.read(path, options)
      },
    }
    assert.equal(await textOf(own, { pattern: "needle", mode: "files" }, workspace), "b.txt")
  })

  test("searches itself where ripgrep is missing, broken, or cannot say", async (context) => {
    const workspace = await folderWith(context, { "a.txt": "needle" })
    const broken = await folderWith(context)
    await writeFile(join(broken.root, "rg"), "#!/bin/sh\nexit 2\n")
    await chmod(join(broken.root, "rg"), 0o755)
    for (const ripgrep of [join(broken.root, "rg"), join(broken.root, "nope")]) {
      const tool = searchFilesTool({ ripgrep })
      assert.equal(await textOf(tool, { pattern: "needle", mode: "files" }, workspace), "a.txt")
    }
  })

  test("asks no program where the workspace is no folder of this machine", async (context) => {
    const trap = await folderWith(context)
    const mark = join(trap.root, "was-run")
    await writeFile(join(trap.root, "rg"), `#!/bin/sh\ntouch ${mark}\n`)
    await chmod(join(trap.root, "rg"), 0o755)
    await textOf(searchFilesTool({ ripgrep: join(trap.root, "rg") }), { pattern: "x" }, memoryWorkspace({ a: "x" }))
    assert.equal(await trap.stat("was-run"), undefined)
  })

  test("gives the same results with and without ripgrep", { skip: requires("ripgrep") }, async (context) => {
    const word = fc.constantFrom("foo", "bar", "Foo", "x.y", "é", "  ")
    const line = fc.array(word, { maxLength: 4 }).map((words) => words.join(" "))
    const name = fc.constantFrom("a.ts", "b.js", "src/c.ts", "src/d/e.md", ".h/f.ts", "node_modules/g.ts", "src/[x].ts")
    const file = fc
      .tuple(fc.array(line, { maxLength: 6 }), fc.constantFrom("\n", "\r\n"))
      .map(([lines, end]) => lines.join(end))
    const input = fc.record(
      {
        pattern: fc.constantFrom(
          "foo",
          "^foo",
          "bar$",
          "\\bfoo\\b",
          "foo.bar",
          "(?!foo)bar",
          "é",
          "^\\s*$",
          "foo\\s+é",
          "x.y",
          "foo\\nbar",
        ),
        mode: fc.constantFrom("content", "files", "count"),
        literal: fc.boolean(),
        ignoreCase: fc.boolean(),
        hidden: fc.boolean(),
        context: fc.nat({ max: 2 }),
        glob: fc.constantFrom("*.ts", "src/**", "!*.ts", "**/*.{ts,md}", "src/[[]x].ts", "s*c/?.ts"),
        type: fc.constantFrom("ts", "md"),
        path: fc.constantFrom("src", "."),
        limit: fc.integer({ min: 1, max: 5 }),
        offset: fc.nat({ max: 3 }),
      },
      { requiredKeys: ["pattern"] },
    )
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, file), input, async (files, input) => {
        const workspace = await folderWith(context, { "src/always.ts": "foo bar", ...files })
        const [one, other] = await both(own, searchFilesTool(), input, workspace)
        assert.equal(one.text, other.text)
        assert.deepEqual(one.value, other.value)
      }),
      { numRuns: 40 },
    )
  })

  test("finds in a folder what it finds in memory", async (context) => {
    const tree: Files = { "a/b.txt": "x\n", "a-b.txt": "x\n", "a/é.txt": "x\n", "a/😀.txt": "x\n", "ab/c": "x\n" }
    const local = await folderWith(context, tree)
    await mkdir(join(local.root, "empty"))
    const inMemory = await textOf(own, { pattern: "x", mode: "files" }, memoryWorkspace(tree))
    assert.equal(await textOf(searchFilesTool(), { pattern: "x", mode: "files" }, local), inMemory)
  })
})

async function both(one: Tool, other: Tool, input: Json, workspace: Workspace) {
  return await Promise.all([use(one, input, workspace), use(other, input, workspace)])
}
