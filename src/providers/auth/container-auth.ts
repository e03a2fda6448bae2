import { posix } from "node:path"
import type { ProviderAuth } from "./auth.ts"

/** What a container needs to run CLIs: paths and names, and no secret. */
export interface ContainerAuth {
  mounts: { source: string; target: string; readOnly: boolean }[]
  /** Passed on by name: the value is taken from the environment of who starts the container. */
  variables: string[]
  /** All that as arguments of `docker run`. */
  flags: string[]
}

/** The least that signs these CLIs in within a container whose user's home is `home`. Each file by itself and for reading alone, but for
 *  a login that the CLI renews: a new one that could not be written would end the old one for everybody. */
export function containerAuth(providers: readonly ProviderAuth[], home: string): ContainerAuth {
  const mounts = providers.flatMap(({ files }) =>
    files
      .filter(({ state }) => state !== "unreadable")
      .map(({ path, target, renews }) => ({ source: path, target: posix.join(home, target), readOnly: !renews })),
  )
  const variables = [...new Set(providers.flatMap((each) => each.variables.map(({ name }) => name)))]
  const flags = [...mounts.flatMap(mountFlag), ...variables.flatMap((name) => ["--env", name])]
  return { mounts, variables, flags }
}

// Unlike `--volume` it makes no folder where a file is missing, and takes paths with colons.
function mountFlag({ source, target, readOnly }: ContainerAuth["mounts"][number]): string[] {
  const fields = ["type=bind", `source=${source}`, `target=${target}`, ...(readOnly ? ["readonly"] : [])]
  return ["--mount", fields.map(csvField).join(",")]
}

function csvField(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
