// The pages of docs/ in the order in which the site shows them. A page that is not named here is listed last.
import { globSync } from "node:fs"
import { basename } from "node:path"

export interface Section {
  title: string
  /** Names of files in docs/, without `.md`. */
  pages: string[]
}

const sections: Section[] = [
  { title: "Start", pages: words("getting-started concepts what-the-model-sees choosing-a-runtime recipes faq") },
  {
    title: "Code and objects",
    pages: words(
      "runtimes declarations cells which-code-is-run undo-and-snapshots live-handles python-notebook outputs",
    ),
  },
  { title: "Safety", pages: words("security approvals guarded-objects budgets") },
  {
    title: "Agents",
    pages: words("models tools tool-results files-and-shell shell workspaces many-agents skills memory hooks"),
  },
  { title: "Conversations", pages: words("sessions web-service chat cli configuration") },
  { title: "Durable runs", pages: words("durability durable-objects stores scaling deploying-workers") },
  { title: "Coding CLIs and MCP", pages: words("providers usage-limits terminals-and-containers mcp") },
  { title: "Quality", pages: words("testing evidence observability bundlers") },
  { title: "Reference", pages: words("events errors architecture non-goals") },
  {
    title: "Coming from",
    pages: words("migrating-from-caveagent migrating-from-vv-agent migrating-from-caw migrating-from-ai-sdk"),
  },
]

/** The sections with those pages that exist. */
export function tableOfContents(root: string): Section[] {
  const existing = globSync("docs/*.md", { cwd: root })
    .map((path) => basename(path, ".md"))
    .sort()
  const named = sections.flatMap(({ pages }) => pages)
  const rest = { title: "More", pages: existing.filter((page) => !named.includes(page)) }
  return [...sections, rest]
    .map(({ title, pages }) => ({ title, pages: pages.filter((page) => existing.includes(page)) }))
    .filter(({ pages }) => pages.length > 0)
}

function words(text: string): string[] {
  return text.split(" ")
}
