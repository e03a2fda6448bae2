// The error for an invalid command line: reported in one sentence, with exit code 2.
export class UsageError extends Error {
  override name = "UsageError"
}
