// `karst completion <shell>`: prints a script for the shell, which calls `karst complete -- <words>` for candidates.
import type { Input } from "../command.ts"
import { completeWords } from "../completion.ts"
import { UsageError } from "../usage-error.ts"

export async function completionCommand({ positionals: [shell = ""] }: Input): Promise<number> {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script === undefined)
    throw new UsageError(`There is no completion for "${shell}". There is: ${Object.keys(scripts).join(", ")}.`)
  process.stdout.write(script.trimStart())
  return 0
}

/** Prints a candidate a line, with a tab before its description; or `:files` if file names complete the last word. */
export function printCandidates(words: readonly string[]): number {
  const found = completeWords(words)
  const lines = found === "files" ? [":files"] : found.map(({ word, help }) => `${word}\t${help}`)
  process.stdout.write(lines.map((line) => `${line}\n`).join(""))
  return 0
}

// Bash 3, which macOS has, knows neither mapfile nor compopt.
const scripts: Record<string, string> = {
  bash: `
_karst() {
  local word rest
  COMPREPLY=()
  while IFS=$'\\t' read -r word rest; do
    if [ "$word" = ":files" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
      return
    fi
    COMPREPLY+=("$word")
  done < <(karst complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _karst karst
`,
  zsh: `
#compdef karst
_karst() {
  local -a found
  found=("\${(@f)$(karst complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "$found[1]" == ":files" ]]; then
    _files
    return
  fi
  found=("\${(@)found//:/\\\\:}")
  found=("\${(@)found/$'\\t'/:}")
  _describe karst found
}
compdef _karst karst
`,
  fish: `
function __karst_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (karst complete -- $words[2..] 2>/dev/null)
    if test "$found[1]" = ":files"
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c karst -f -a '(__karst_complete)'
`,
}
