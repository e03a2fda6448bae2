// A workspace of your own: six functions. This one stores files in SQLite. The suite of karst/testing checks that it
// fulfils the contract, so agents can use it like any other workspace.
import { DatabaseSync } from "node:sqlite"
import { testWorkspace } from "karst/testing"
import { memoryWorkspace, type Workspace } from "karst/workspaces"

/** Loads what is in the table, and writes each change back. */
function sqliteWorkspace(db: DatabaseSync): Workspace {
  db.exec("create table if not exists files (path text primary key, bytes blob not null)")
  const stored = db.prepare("select path, bytes from files").all() as { path: string; bytes: Uint8Array }[]
  const files = memoryWorkspace(Object.fromEntries(stored.map(({ path, bytes }) => [path, bytes])))
  const put = db.prepare("insert or replace into files values (?, ?)")
  const drop = db.prepare("delete from files where path = ?")
  return {
    ...files,
    async write(path, data, options) {
      const info = await files.write(path, data, options)
      put.run(info.path, await files.read(info.path))
      return info
    },
    async remove(path, options) {
      await files.remove(path, options)
      drop.run(path.replace(/^(\.\/+)+/, ""))
    },
  }
}

const db = new DatabaseSync(":memory:")
const workspace = sqliteWorkspace(db)
await workspace.write("notes/a.md", "kept")
console.log("read by another:", new TextDecoder().decode(await sqliteWorkspace(db).read("notes/a.md")))

let passed = 0
const failed: string[] = []
const bodies: Promise<void>[] = []
testWorkspace({
  test(title, body) {
    const done = body({ skip() {} })
    bodies.push(
      done.then(
        () => void passed++,
        () => void failed.push(title),
      ),
    )
  },
  workspace: () => sqliteWorkspace(new DatabaseSync(":memory:")),
})
await Promise.all(bodies)
console.log(`${passed} promises kept`, failed)
