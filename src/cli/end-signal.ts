// An AbortSignal for commands that work until they are stopped: Ctrl-C or SIGTERM aborts it, a second one exits.
export function endSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(130)
      controller.abort()
    })
  }
  return controller.signal
}
