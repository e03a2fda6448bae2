import { spawn } from "../../core/child/child-process.ts"
import { systemPath } from "./command-streams.ts"

/** Ends what is left of commands when their host is gone, also by `kill -9`. */
export interface Watchdog {
  /** The groups there are now. */
  watch(groups: readonly number[]): void
  /** The host has done it itself. */
  end(): void
}

/** A tiny shell that waits for the end of a pipe, which the system closes with its host. Then it kills the groups it was
 *  told last and, on Linux, whatever carries the marker, and removes the folder. */
export function startWatchdog(marker: string, folder: string): Watchdog {
  const child = spawn("/bin/sh", ["-c", script, "sh", marker, folder], {
    cwd: "/",
    env: { PATH: systemPath },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  })
  // Without a watchdog commands run all the same.
  child.on("error", () => undefined)
  child.stdin.on("error", () => undefined)
  child.unref()
  // A pipe to a child is a socket, which can be left alone; its type does not say so.
  if ("unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref()
  return {
    watch: (groups) => void child.stdin.write(`${groups.join(" ")}\n`),
    end: () => void child.stdin.end("end\n"),
  }
}

const script = `
trap '' HUP INT TERM
while read -r line; do
  [ "$line" = end ] && exit
  groups=$line
done
for group in $groups; do kill -KILL "-$group"; done
for round in 1 2 3 4 5; do
  found=$(grep -lsaF -e "$1" /proc/[0-9]*/environ)
  [ -n "$found" ] || break
  for file in $found; do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
  sleep 1
done
rm -rf -- "$2"
`
