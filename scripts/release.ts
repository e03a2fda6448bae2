// `npm run release` checks whether this checkout can be published, runs `.ci/run`, packs into release/ and prints the
// commands that publish. It publishes nothing itself.
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { pack } from "./pack.ts"
import { prepareRelease } from "./prepare-release.ts"
import { root } from "./tools.ts"

const folder = join(root, "release")
const { ok, text } = await prepareRelease(root, {
  check: () => spawnSync(join(root, ".ci/run"), { cwd: root, stdio: "inherit" }).status === 0,
  async pack() {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    return await pack(folder)
  },
})
if (ok) console.log(text)
else console.error(text)
process.exitCode = ok ? 0 : 1
