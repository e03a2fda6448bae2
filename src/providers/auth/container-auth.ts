// The mounts and variables that sign coding CLIs in within a container.
import { posix } from "node:path"
import type { ProviderAuth } from "./auth.ts"

/** Paths and names, no secrets. */
export interface ContainerAuth {
  mounts: { source: string; target: string; readOnly: boolean }[]
  /** Names of variables; `docker run` takes the values from its own environment. */
  variables: string[]
  /** Mounts and variables as arguments of `docker run`. */
  flags: string[]
}

/** The minimum that signs these CLIs in within a container whose user's home is `home`. Files are mounted read-only,
 *  except logins that the CLI renews: if it could not store the new login, the old one would stop working
 *  everywhere. */
export function containerAuth(providers: readonly ProviderAuth[], home: string): ContainerAuth {
  const mounts = providers.flatMap(({ files }) =>
    files
      .filter(({ state }) => state !== "unreadable")
      .map(({ path, target, renewedByCli }) => ({
        source: path,
        target: posix.join(home, target),
        readOnly: !renewedByCli,
      })),
  )
  const variables = [...new Set(providers.flatMap((each) => each.variables.map(({ name }) => name)))]
  const flags = [...mounts.flatMap(mountFlag), ...variables.flatMap((name) => ["--env", name])]
  return { mounts, variables, flags }
}

// Unlike `--volume`, `--mount` creates no folder for a missing file and accepts paths with colons.
function mountFlag({ source, target, readOnly }: ContainerAuth["mounts"][number]): string[] {
  const fields = ["type=bind", `source=${source}`, `target=${target}`, ...(readOnly ? ["readonly"] : [])]
  return ["--mount", fields.map(csvField).join(",")]
}

function csvField(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
