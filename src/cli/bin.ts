#!/usr/bin/env node
// Nothing else is loaded before this check: an older Node could not even parse it.
const needed = 24
if (Number(process.versions.node.split(".")[0]) < needed) {
  process.stderr.write(
    `Karst needs Node ${needed} or newer; this is ${process.version}. Install Node ${needed} from https://nodejs.org and run karst with it.\n`,
  )
  process.exit(1)
}
const { main } = await import("./main.ts")
await main(process.argv.slice(2))
