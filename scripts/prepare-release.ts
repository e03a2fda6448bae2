// Checks whether a checkout can be published, and says how to publish it.
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface ReleaseSteps {
  /** Runs the checks and all tests. Gives false if one fails; it has then printed which. */
  check(): boolean
  /** Packs the package and gives the path of the tarball. */
  pack(): Promise<string>
}

/** Gives the text for whoever makes the release: what to correct, or the commands that publish. Publishes nothing. */
export async function prepareRelease(folder: string, steps: ReleaseSteps): Promise<{ ok: boolean; text: string }> {
  const problems = findProblems(folder)
  if (problems.length > 0) return { ok: false, text: `This cannot be published yet:\n- ${problems.join("\n- ")}` }
  if (!steps.check()) return { ok: false, text: "This cannot be published yet: a check failed; its message is above." }
  const changed = changedFiles(folder)
  if (changed) return { ok: false, text: `The checks changed files. Commit or undo the changes:\n${changed}` }
  return { ok: true, text: instructions(folder, await steps.pack()) }
}

function findProblems(folder: string): string[] {
  const problems: string[] = []
  const { version } = readJson(folder, "package.json")
  const changed = changedFiles(folder)
  if (changed) problems.push(`There are changes that are not committed. Commit or undo them:\n${changed}`)
  if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
    problems.push(`package.json has the version "${version}". Write three numbers, as 1.2.3 or 1.2.3-beta.1.`)
  const locked = readJson(folder, "package-lock.json").version
  if (locked !== version)
    problems.push(
      `package-lock.json has the version ${locked} and package.json ${version}. Run: npm version ${version} --no-git-tag-version --allow-same-version`,
    )
  if (placeOfTag(folder, version) === "elsewhere")
    problems.push(
      `The tag v${version} is on another commit. Check that commit out, or set the next version: npm version <version> --no-git-tag-version`,
    )
  return [...problems, ...changelogProblems(readFileSync(join(folder, "CHANGELOG.md"), "utf8"), version)]
}

function changelogProblems(changelog: string, version: string): string[] {
  const sections = new Map(
    changelog
      .split(/^## /m)
      .slice(1)
      .map((section) => {
        const [title = "", ...lines] = section.split("\n")
        return [title.trim(), lines.join("\n").trim()]
      }),
  )
  const unreleased = sections.get("Unreleased") ?? ""
  if (unreleased !== "") return [`CHANGELOG.md has entries under "Unreleased". Move them to a section "## ${version}".`]
  if (!sections.get(version)) return [`CHANGELOG.md has no entries for ${version}. Write a section "## ${version}".`]
  const [first] = [...sections.keys()].filter((title) => title !== "Unreleased")
  if (first !== version) return [`CHANGELOG.md begins with ${first}. Put the section of ${version} first.`]
  return []
}

function instructions(folder: string, tarball: string): string {
  const { name, version } = readJson(folder, "package.json")
  const digest = createHash("sha512").update(readFileSync(tarball)).digest("base64")
  // A version with a hyphen is a preview: `npm install` must not choose it.
  const tag = version.includes("-") ? " --tag next" : ""
  const tagging = `Tag the commit, so that the source of the package can be found:
  git tag -a v${version} -m "${name} ${version}" && git push origin v${version}\n\n`
  return `${name} ${version} can be published: ${tarball}
integrity: sha512-${digest}

${placeOfTag(folder, version) === "here" ? "" : tagging}Publish it in a workflow that may sign (permissions: id-token: write), so that npm shows where it was built:
  npm publish ${tarball} --provenance --access public${tag}`
}

/** Whether the tag of a version is on the commit that is checked out; undefined if there is no tag. */
function placeOfTag(folder: string, version: string): "here" | "elsewhere" | undefined {
  if (git(folder, "tag", "--list", `v${version}`) === "") return undefined
  const [tagged, here] = [`refs/tags/v${version}`, "HEAD"].map((name) => git(folder, "rev-parse", `${name}^{commit}`))
  return tagged === here ? "here" : "elsewhere"
}

/** In git's short form, a line for each file. */
function changedFiles(folder: string): string {
  return git(folder, "status", "--porcelain")
}

function git(folder: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd: folder, encoding: "utf8" }).trimEnd()
}

function readJson(folder: string, file: string): { name: string; version: string } {
  return JSON.parse(readFileSync(join(folder, file), "utf8"))
}
