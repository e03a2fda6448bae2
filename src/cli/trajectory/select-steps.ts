// Finds the steps that `--steps` names: `7`, `7-10`, `12/3`, `12/3-12/7`, `12/3-7`, and lists of them.
import { UsageError } from "../usage-error.ts"
import { allSteps, type Step } from "./steps.ts"

/** Throws a `UsageError` for steps that do not exist and for ranges over several levels. */
export function selectSteps(steps: readonly Step[], selector: string): Step[] {
  const byAddress = new Map(allSteps(steps).map((step) => [step.address, step]))
  return selector
    .split(",")
    .map((item) => item.trim())
    .flatMap((item) => addressesOf(item).map((address) => byAddress.get(address) ?? refuse(address, steps)))
}

const pattern = /^((?:\d+\/)*)(\d+)(?:-((?:\d+\/)*)(\d+))?$/

// A longer range than this is a mistake, and would take long to write out.
const maxRange = 100_000

function addressesOf(item: string): string[] {
  const [, parent = "", from = "", endParent, to = from] = pattern.exec(item) ?? []
  if (from === "") throw new UsageError(`--steps: "${item}" is no step. Write 7, 7-10, 12/3 or 12/3-12/7.`)
  if (endParent && endParent !== parent)
    throw new UsageError(`--steps: the ends of the range ${item} are steps of different runs. Name two ranges.`)
  const count = Number(to) - Number(from) + 1
  if (count < 1 || count > maxRange) throw new UsageError(`--steps: the range ${item} has no steps.`)
  return Array.from({ length: count }, (_, index) => `${parent}${Number(from) + index}`)
}

function refuse(address: string, steps: readonly Step[]): never {
  const last = steps.at(-1)?.address
  const there = last === undefined ? "The trajectory has no steps" : `There are 1 to ${last}`
  throw new UsageError(`--steps: there is no step ${address}. ${there}; those of sub-agents are written 12/3.`)
}
