#!/usr/bin/env node
// Nothing else is loaded before this check: an older Node could not even parse it.
const needed = 24
if (Number(process.versions.node.split(".")[0]) < needed) {
  process.stderr.write(
    `karst needs Node ${needed} or newer; this is ${process.version}. Install it and run karst again.\n`,
  )
  process.exit(1)
}
const { main } = await import("./main.ts")
await main(process.argv.slice(2))
