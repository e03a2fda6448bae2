// The words that start Karst here: `karst`, `npx karst` or `npm start --`. Printed command lines begin with them.

/** An installation in a project is not in the PATH of the shell: npx starts it. In a clone, `npm start` does. */
export function commandName(env: NodeJS.ProcessEnv = process.env): string {
  const { npm_lifecycle_event: script, npm_package_name: project } = env
  if (script === undefined) return "karst"
  return script === "start" && project === "karst" ? "npm start --" : "npx karst"
}
