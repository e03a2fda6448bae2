// Says in plain words why the operating system refused to read or write a file.

/** Returns a sentence with the path, the cause and the cure; undefined for errors that are not about a file. */
export function systemErrorText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = "", path, dest } = error as NodeJS.ErrnoException & { dest?: string }
  const reason = reasons[code]
  if (reason === undefined || (path === undefined && code !== "ENOSPC" && code !== "EDQUOT")) return undefined
  const place = dest ?? path
  return `${place === undefined ? "A file" : withoutTemporaryName(place)} cannot be used: ${reason} (${code}).`
}

/** A file is written under another name first, as by `replacePrivateFile`. */
function withoutTemporaryName(path: string): string {
  return path.replace(/\.t_[\da-f]+$/, "")
}

const full = "the disk is full. Free some space, and try again"
const reasons: Record<string, string> = {
  ENOSPC: full,
  EDQUOT: full,
  EACCES: "this user may not read or write it. Change its permissions, or name another place",
  EPERM: "this user may not read or write it. Change its permissions, or name another place",
  EROFS: "its file system cannot be written. Name another place",
  EISDIR: "it is a folder. Name a file",
  ENOTDIR: "a part of its path is not a folder. Name another place",
  EEXIST: "there is a file or folder of that name. Name another one",
  ENOENT: "there is no such file or folder. Check the path",
  ENAMETOOLONG: "its name is too long. Name another one",
}
