import {
  isAboveZero,
  isEither,
  isFlag,
  isFrom,
  isFunction,
  isOneOf,
  isRecord,
  isText,
  isTexts,
  isWholeFrom,
  type OptionChecks,
} from "../core/check-options.ts"
import type { ShellOptions } from "./shell.ts"

export const shellChecks: OptionChecks<ShellOptions> = {
  approve: isEither("true, false or a function", isFlag, isFunction),
  timeoutMs: isAboveZero,
  maxTimeoutMs: isAboveZero,
  onTimeout: isOneOf("background", "kill"),
  maxOutputBytes: isFrom(0),
  previewBytes: isFrom(0),
  maxRunning: isWholeFrom(1),
  graceMs: isFrom(0),
  shell: isText,
  env: isRecord,
  sandbox: isOneOf("none", "os", "auto"),
  network: isOneOf("none", "all"),
  read: isTexts,
}
