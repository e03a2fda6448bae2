// Loads `node:sqlite` without the warning that Node prints for it: the warning names no file of the user's program.

/** Returns `node:sqlite`. Only the warning of this load is left out: nothing else runs before the function returns. */
export function loadSqlite(): typeof import("node:sqlite") {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (rest[0] !== "ExperimentalWarning") Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return process.getBuiltinModule("node:sqlite")
  } finally {
    process.emitWarning = emitWarning
  }
}
