// Cases of the workspace suite: valid paths, what they name, and the order and patterns of listings.
import assert from "node:assert/strict"
import { pathsIn, refused, streamed, textAt, workspaceCase } from "./workspace-case.ts"

export const pathCases = {
  spelling: workspaceCase("one path has one spelling", async (workspace) => {
    const { path } = await workspace.write("./notes//./a.txt", "a")
    assert.equal(path, "notes/a.txt")
    assert.equal(await textAt(workspace, "notes/a.txt"), "a")
    assert.equal((await workspace.stat("notes///a.txt"))?.path, "notes/a.txt")
    assert.deepEqual(await pathsIn(workspace, "./notes/"), ["notes/a.txt"])
    for (const all of [undefined, "", ".", "./"]) assert.deepEqual(await pathsIn(workspace, all), ["notes/a.txt"])
  }),

  "paths-refused": workspaceCase(
    "a path that could lead elsewhere is refused everywhere, and nothing happens",
    async (workspace) => {
      const wrong = ["/etc/passwd", "../up", "a/../b", "..", "a/..", "a\\b", "..\\up", "C:/a", "a\0b", "a\nb", "\ud800"]
      for (const path of [...wrong, "", ".", "./", "//"]) {
        await refused("invalid-path", workspace.read(path))
        await refused("invalid-path", streamed(workspace, path))
        await refused("invalid-path", workspace.write(path, "x"))
        await refused("invalid-path", workspace.stat(path))
        await refused("invalid-path", workspace.remove(path))
      }
      for (const folder of wrong) await refused("invalid-path", pathsIn(workspace, folder))
      await refused("invalid-path", workspace.read(42 as unknown as string))
      assert.deepEqual(await pathsIn(workspace), [])
    },
  ),

  names: workspaceCase("a name is its characters and nothing else", async (workspace) => {
    const names =
      "a b|a+b|a%20b|%2e%2e|a?b|a#b|a&amp;b|a&b|<a>|'a'|\"a\"|a:b|~|~a|-rf|.hidden|...|..a|a;b|a=b|a@b|a,b|[a]|{a}|*|!a|(a)|$a|`a`|a^b|ä|日本|😀|. .|www.a.b"
    const paths = names.split("|").map((name) => `in ${name}/${name}`)
    for (const path of paths) await workspace.write(path, path)
    for (const path of paths) assert.equal(await textAt(workspace, path), path)
    assert.deepEqual(new Set(await pathsIn(workspace)), new Set(paths))
    for (const path of paths) await workspace.remove(path)
    assert.deepEqual(await pathsIn(workspace), [])
  }),

  case: workspaceCase("upper and lower case are different names", async (workspace) => {
    await workspace.write("Readme", "upper")
    await workspace.write("readme", "lower")
    assert.equal(await textAt(workspace, "Readme"), "upper")
    assert.equal(await workspace.stat("README"), undefined)
    assert.deepEqual(await pathsIn(workspace), ["Readme", "readme"])
  }),

  composition: workspaceCase(
    "an accented letter and a letter with an accent are different names, each as it was written",
    async (workspace) => {
      const [composed, decomposed] = ["\u00e9", "e\u0301"]
      await workspace.write(composed, "one")
      await workspace.write(decomposed, "two")
      assert.equal(await textAt(workspace, composed), "one")
      assert.equal(await textAt(workspace, decomposed), "two")
      assert.deepEqual(await pathsIn(workspace), [decomposed, composed])
    },
  ),

  folders: workspaceCase(
    "a folder is no file: it comes with its first file and goes with its last",
    async (workspace) => {
      await workspace.write("a/b/c.txt", "c")
      for (const folder of ["a", "a/b"]) {
        assert.equal(await workspace.stat(folder), undefined)
        await refused("not-found", workspace.read(folder))
        await refused("not-found", streamed(workspace, folder))
        await workspace.remove(folder)
      }
      assert.equal(await workspace.stat("a/b/c.txt/d"), undefined)
      await refused("not-found", workspace.read("a/b/c.txt/d"))
      assert.deepEqual(await pathsIn(workspace, "a/b/c.txt"), [])
      assert.deepEqual(await pathsIn(workspace), ["a/b/c.txt"])
      await workspace.remove("a/b/c.txt")
      await workspace.write("a", "now a file")
      assert.equal(await textAt(workspace, "a"), "now a file")
    },
  ),

  "path-taken": workspaceCase(
    "a file cannot take the place of a folder, nor have files below it",
    async (workspace) => {
      await workspace.write("a/b", "b")
      await refused("path-taken", workspace.write("a", "a"))
      await refused("path-taken", workspace.write("a", "a", { append: true }))
      await refused("path-taken", workspace.write("a/b/c", "c"))
      assert.deepEqual(await pathsIn(workspace), ["a/b"])
    },
  ),

  order: workspaceCase("files are listed by path, in the order of code points", async (workspace) => {
    const sorted = ["A", "a", "a b/x", "a-b", "a.b/y", "a/a", "a/b/c", "a0", "aa", "b", "ä", "\uff5e", "😀", "😀/x"]
    const paths = sorted.filter((path) => path !== "a" && path !== "😀")
    for (const path of paths.toReversed()) await workspace.write(path, "")
    assert.deepEqual(await pathsIn(workspace), paths)
  }),

  below: workspaceCase(
    "listing a folder returns the files below it, and none of a folder whose name only starts alike",
    async (workspace) => {
      for (const path of ["src/a", "src/b/c", "src2/d", "src.e", "f"]) await workspace.write(path, "")
      assert.deepEqual(await pathsIn(workspace, "src"), ["src/a", "src/b/c"])
      assert.deepEqual(await pathsIn(workspace, "src/b"), ["src/b/c"])
      assert.deepEqual(await pathsIn(workspace, "sr"), [])
      for await (const { path } of workspace.list()) {
        assert.equal(path, "f")
        break
      }
    },
  ),

  glob: workspaceCase("a pattern chooses among the paths below the folder, in one dialect", async (workspace) => {
    const paths = [".env", "a.ts", "b.tsx", "lib/.keep", "lib/a.js", "lib/deep/er/c.ts", "lib/x[1].ts", "src/a.ts", "z"]
    for (const path of paths) await workspace.write(path, "")
    const chosen = async (glob: string, folder?: string) => (await pathsIn(workspace, folder, { glob })).join(" ")
    assert.equal(await chosen("*"), ".env a.ts b.tsx z")
    assert.equal(await chosen("**"), paths.join(" "))
    assert.equal(await chosen("*.ts"), "a.ts")
    assert.equal(await chosen("./*.ts"), "a.ts")
    assert.equal(await chosen("**/*.ts"), "a.ts lib/deep/er/c.ts lib/x[1].ts src/a.ts")
    assert.equal(await chosen("*/a.*"), "lib/a.js src/a.ts")
    assert.equal(await chosen("lib/**"), "lib/.keep lib/a.js lib/deep/er/c.ts lib/x[1].ts")
    assert.equal(await chosen("lib/**/c.ts"), "lib/deep/er/c.ts")
    assert.equal(await chosen("?.ts"), "a.ts")
    assert.equal(await chosen("{a,b}.ts{,x}"), "a.ts b.tsx")
    assert.equal(await chosen("{src,lib/deep}/**"), "lib/deep/er/c.ts src/a.ts")
    assert.equal(await chosen("[a-b].ts*"), "a.ts b.tsx")
    assert.equal(await chosen("[!a-b]"), "z")
    assert.equal(await chosen("lib/x[[]1].ts"), "lib/x[1].ts")
    assert.equal(await chosen("A.TS"), "")
    assert.equal(await chosen("*.ts", "src"), "src/a.ts")
    assert.equal(await chosen("**/*.ts", "lib"), "lib/deep/er/c.ts lib/x[1].ts")
    assert.equal(await chosen("src/*", "src"), "")
  }),

  "glob-refused": workspaceCase("a pattern that is none, or that leads out, is refused", async (workspace) => {
    await workspace.write("a", "")
    for (const glob of ["", "../*", "a/../*", "/a", "[a", "{a", "{a,b", "a\\*", "*".repeat(5000)]) {
      await refused("invalid-glob", pathsIn(workspace, "", { glob }))
    }
  }),
}
