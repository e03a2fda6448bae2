// The help texts of all commands.
export function helpFor(command: string | undefined): string {
  return command !== undefined && Object.hasOwn(commands, command) ? (commands[command] ?? help) : help
}

const help = `
karst: agents that write code against live objects

  karst demo                 watch a replayed model work on live objects; needs no key
  karst run "<prompt>"       run a prompt; karst "<prompt>" is the same
  karst prompt               print exactly what the model sees before the first prompt
  karst skills list          the skills there are; also: validate, add
  karst worker               work on the runs of a store, until it is stopped
  karst mcp serve            your live objects in Claude Code, Cursor, VS Code and other MCP clients
  karst claude <module>      Claude Code with your live objects; also: codex, opencode, gemini
  karst auth status          what coding CLIs sign in with; docker-flags: the same for a container

  karst <command> --help     the options of a command
  karst --version

Exit codes: 0 done, 1 failed, 2 usage, 3 stopped by a limit, 4 waiting, 130 aborted.
`

const modelHelp = `
  --model <id>          such as openai/gpt-5.2 or ollama/qwen3. Default: KARST_MODEL, else the first
                        provider whose key is in the environment`

const dataHelp = `
  --data <file>         a .csv, .tsv, .json or .jsonl file, put in as a variable named after it;
                        may be given several times`

const skillsHelp = `
  --skills <folder>     a skill, or a folder of them, for the agent to activate; may be given several times`

function codingCliHelp(name: string, title: string): string {
  return `
karst ${name} <module> [prompt] [options]: ${title} with the live objects of a module

With a prompt, one run is shown; "-" reads it from standard input. Without, ${title} itself opens in the terminal
(needs the package node-pty). The module is one as for karst mcp serve.

  --model <model>       in ${title}'s own words, or strongest, or fast
  --allow <groups>      what it may do beside using your objects: read, write, exec, web, parallel, interaction.
                        Default: read for a run; everything, asking you first, in the terminal
  --program <path>      the program, where it is not in PATH
  --cell-timeout <s>    stop a cell after so many seconds. Default: never
  --mode <mode>         of a run: full, short, result or off. Default: full
  --json                of a run: print every event as a line of JSON, and nothing else
`
}

const commands: Record<string, string> = {
  claude: codingCliHelp("claude", "Claude Code"),
  codex: codingCliHelp("codex", "Codex"),
  opencode: codingCliHelp("opencode", "opencode"),
  gemini: codingCliHelp("gemini", "Gemini CLI"),
  demo: `
karst demo [options]: the weather of Seattle, a chart and a sprinkler, as live objects

The model's turns are replayed unless --model is given; everything else is live.

  --model <id>          let this model do the same task
  --fast                do not pace the replayed turns
  --out <directory>     where the charts go. Default: a folder for temporary files
  --mode <mode>         full, short, result or off. Default: full
`,
  run: `
karst run "<prompt>" [options]: run a prompt; "-" reads it from standard input
${modelHelp}${dataHelp}${skillsHelp}
  --max-cycles <n>      stop after this many model calls. Default: 10
  --mode <mode>         full, short, result (the answer alone) or off. Default: full
  --json                print every event as a line of JSON, and nothing else

Ctrl-C aborts the run; a second one leaves at once.
`,
  skills: `
karst skills <action>: the skills that agents can activate, in the Agent Skills format

  list [folder …]             the skills in these folders. Default: skills, .agents/skills, .claude/skills
  validate <folder …>         every problem of the skills there; exit code 1 when one cannot be loaded
  add <path | git url>        check a skill, or a folder or repository of them, and copy it to ./skills
    --to <folder>             copy it there instead
    --skill <name>            only this one; may be given several times
    --force                   replace what is there
`,
  worker: `
karst worker --agents <module> --store <store> [options]: work on the runs of a store

  --agents <module>     the module that exports the agents: the same that the submitting program imports
  --store <store>       redis://host:6379 or sqlite:karst.db
  --backend <backend>   bullmq: take jobs from a queue in Redis; inline: look in the store for runs that wait.
                        Default: bullmq for a store in Redis, else inline
  --redis <url>         where the queue is. Default: where the store is
  --queue <name>        its name. Default: runs
  --prefix <text>       what keys in Redis begin with. Default: karst
  --max-parallel <n>    how many runs at a time. Default: 4

Ctrl-C or SIGTERM ends it after the cycles under way; others go on with their runs. A second one leaves at once.
`,
  mcp: `
karst mcp serve <module> [options]: serve the live objects of a module to an MCP client

Over standard input and output, for a client such as Claude Code to start. The commands that add it to Claude Code and
Codex are printed on standard error.

  <module>              exports objects by name, or by default an object of them or a function that makes one; or a \`runtime\`.
                        It may also export \`tools\`, and \`approver\`, which answers the calls that ask for approval; without it
                        the client's user is asked
  --http                over HTTP on 127.0.0.1, for several clients at once; the token is printed, or taken from KARST_MCP_TOKEN
  --port <n>            with --http: the port. Default: a free one
  --name <name>         what clients know it as. Default: the file's name
  --cell-timeout <s>    stop a cell after so many seconds. Default: never
`,
  auth: `
karst auth <action> [options]: what coding CLIs sign in with. No secret is ever printed

  status                the files and variables that each CLI would use, and until when they are good
  docker-flags          arguments of \`docker run\` that give a container the same: each file by itself, read-only but for
                        logins that the CLI renews; variables by name alone
    --home <path>       the home of the user in the container. Default: /root
  --agents <names>      such as claude,codex. Default: claude, codex, opencode, gemini
  --json                print it as JSON

Exit code 1: none of them has a credential that is still good.
`,
  prompt: `
karst prompt [options]: print exactly what the model sees before the first prompt
${dataHelp}${skillsHelp}
`,
}
