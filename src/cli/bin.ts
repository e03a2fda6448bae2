#!/usr/bin/env node
// The `karst` executable. Checks the Node version before it loads modules that an older Node cannot parse.
const needed = 24
if (Number(process.versions.node.split(".")[0]) < needed) {
  process.stderr.write(
    `Karst needs Node ${needed} or newer; this is ${process.version}. Install Node ${needed} from https://nodejs.org and run karst with it.\n`,
  )
  process.exit(1)
}
const { main } = await import("./main.ts")
await main(process.argv.slice(2))
