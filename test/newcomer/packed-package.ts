// The package as npm would publish it, packed once for all test files of a run, and the environment of a user's shell.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { homedir, tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { pack } from "../../scripts/pack.ts"

/** Returns the path of the tarball. The first test file that asks for it packs it; the others wait, because a build
 *  replaces dist/. */
export async function packedPackage(): Promise<string> {
  // `npm test` makes this folder for each run and removes it at the end.
  const folder = process.env.KARST_TEST_FOLDER ?? (await mkdtemp(join(tmpdir(), "karst-packed-")))
  const result = join(folder, "packed.json")
  if (claim(join(folder, "packing"))) {
    const answer = await pack(folder).then(
      (tarball) => ({ tarball }),
      (error: Error & { stderr?: string }) => ({ error: error.stderr || error.message }),
    )
    writeFileSync(`${result}.new`, JSON.stringify(answer))
    renameSync(`${result}.new`, result)
  }
  while (!existsSync(result)) await wait(100)
  const { tarball, error }: { tarball?: string; error?: string } = JSON.parse(readFileSync(result, "utf8"))
  if (tarball === undefined) throw new Error(`The package could not be packed: ${error}`)
  return tarball
}

function claim(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    return false
  }
}

/** What the shell of a user has: this Node, a home folder of its own and npm's cache, and no key. */
export function userEnvironment(home: string, node = process.execPath): Record<string, string> {
  const { PATH = "", npm_config_cache, npm_config_userconfig, TMPDIR } = process.env
  return {
    PATH: `${dirname(node)}${delimiter}${PATH}`,
    HOME: home,
    npm_config_cache: npm_config_cache ?? join(homedir(), ".npm"),
    npm_config_userconfig: npm_config_userconfig ?? join(homedir(), ".npmrc"),
    npm_config_prefer_offline: "true",
    npm_config_loglevel: "error",
    npm_config_fund: "false",
    npm_config_audit: "false",
    npm_config_update_notifier: "false",
    ...(TMPDIR && { TMPDIR }),
  }
}
