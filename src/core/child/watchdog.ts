// Ends the processes of commands and coding CLIs if this process dies, even by `kill -9`.
import { spawn } from "./child-process.ts"

export interface Watchdog {
  /** Sets the process groups to end. */
  watch(groups: readonly number[]): void
  /** Stops the watchdog, because this process has ended them itself. */
  end(): void
}

/** Starts a small shell that waits for the end of a pipe, which the system closes when this process ends. It then
 *  kills the last groups passed to it and, on Linux, all processes with the marker, and removes the folder. */
export function startWatchdog(marker: string, folder: string): Watchdog {
  const child = spawn("/bin/sh", ["-c", script, "sh", marker, folder], {
    cwd: "/",
    env: { PATH: systemPath },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  })
  // Commands also work without a watchdog.
  child.on("error", () => undefined)
  child.stdin.on("error", () => undefined)
  child.unref()
  // The pipe to a child is a socket, but its type does not have `unref`.
  if ("unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref()
  return {
    watch: (groups) => void child.stdin.write(`${groups.join(" ")}\n`),
    end: () => void child.stdin.end("end\n"),
  }
}

/** Where the system programs that Karst uses are. Not the host's PATH, which may contain folders that the model can
 *  write. */
export const systemPath = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin:/run/current-system/sw/bin"

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
