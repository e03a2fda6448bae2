// `karst doctor`: checks what Karst can use on this machine, and says what to do about the rest.
import { loadConfig } from "../../config/load-config.ts"
import { createPalette, wantsColor } from "../../display/paint.ts"
import { safeLine } from "../../display/safe-text.ts"
import type { Input } from "../command.ts"
import { type Check, withoutSecrets } from "../doctor/check.ts"
import { checkClis } from "../doctor/check-clis.ts"
import { checkIsolation, checkNode, checkPython, checkRedis } from "../doctor/check-machine.ts"
import { checkConfigAndModel, checkKeys } from "../doctor/check-models.ts"
import { checkKarst, checkPackages } from "../doctor/check-packages.ts"
import { printJson } from "../print-table.ts"
import { allowPackagesOf } from "../project-config.ts"
import type { doctorOptions } from "../table/project.ts"

export async function doctorCommand({ values }: Input<typeof doctorOptions>): Promise<number> {
  const { live, model, redis = process.env.REDIS_URL || undefined, need = [] } = values
  // The packages of the project are used only if its configuration is trusted.
  await loadConfig().then(allowPackagesOf, () => undefined)
  const groups = await Promise.all([
    [checkNode(), checkKarst()],
    checkConfigAndModel({ model, live }),
    [checkKeys(process.env), checkIsolation()],
    checkPython(),
    checkRedis(redis).then((found): Check => ({ ...found, asked: redis !== undefined })),
    checkClis({ live }),
    checkPackages(),
  ])
  const checks = groups.flat().map((check): Check => {
    const asked = check.asked === true || need.some((name) => name === check.name)
    return withoutSecrets({ ...check, asked })
  })
  if (values.json) printJson(checks)
  else printChecks(checks)
  return checks.some(({ asked, state }) => asked && state !== "ok") ? 1 : 0
}

function printChecks(checks: readonly Check[]): void {
  const paint = createPalette(wantsColor(process.stdout))
  const paints = { ok: paint.green, missing: paint.yellow, broken: paint.red }
  const width = Math.max(...checks.map(({ name }) => name.length))
  for (const { name, state, text, remedy } of checks) {
    const line = [paints[state](state.padEnd(7)), name.padEnd(width), safeLine(text)].join("  ")
    process.stdout.write(`${line}\n`)
    if (remedy !== undefined) process.stdout.write(`${" ".repeat(width + 11)}${paint.dim(`→ ${safeLine(remedy)}`)}\n`)
  }
}
