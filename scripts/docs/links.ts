// Checks the links of the site: every page, file and anchor that a page leads to exists.
import { posix } from "node:path"
import { plainText } from "./markdown-page.ts"

/** One line for each link of `files` (HTML by its path in the site) that leads nowhere, and for each script, style or
 *  image from another server. */
export function brokenLinks(files: Map<string, string>): string[] {
  const pages = [...files].filter(([path]) => path.endsWith(".html"))
  const anchors = new Map(pages.map(([path, html]) => [path, anchorsIn(html)]))
  return pages.flatMap(([path, html]) =>
    [...html.matchAll(/<(\w+)[^>]*? (?:href|src)="([^"]*)"/g)].flatMap(([, tag = "", address = ""]) => {
      const href = plainText(address)
      if (/^[a-z]+:/.test(href)) return tag === "a" ? [] : [`${path}: <${tag}> loads ${href} from another server`]
      const [file = "", anchor] = href.split("#")
      const target = file === "" ? path : posix.join(posix.dirname(path), file)
      if (!files.has(target)) return [`${path}: ${href} leads to no file`]
      if (anchor && !anchors.get(target)?.has(anchor)) return [`${path}: ${href} leads to no heading`]
      return []
    }),
  )
}

function anchorsIn(html: string): Set<string> {
  return new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => plainText(id)))
}
