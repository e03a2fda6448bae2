// The texts for the model in English.
import type { PromptTexts } from "../prompt-texts.ts"

const block = (tag: string) => `\`\`\`${tag} block`
const asText = (what: string) => `If ${what} is only part of your answer, tag it \`\`\`text.`
const goOn =
  "Go on exactly where you stopped: no apology, no repetition, not even of the last line. If you were inside a code " +
  "block, continue the code itself."
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

export const english: PromptTexts = {
  codeInstructions: "You solve tasks by writing code against live objects.",
  toolInstructions: "You solve tasks by calling tools.",
  cellsConfined: (hasTools) =>
    "Cells here cannot read or write files, start processes or see the environment: work with what is in the session" +
    `${hasTools ? ", and with the tools" : ""}.`,
  filesByTools: "Cells cannot read or write files: use the tools for that.",
  howYouWork: "# How you work",
  oneBlock: (tag, language) =>
    `Write one ${block(tag)} of ${language === "python" ? "Python" : "TypeScript"} per message, then stop. It runs at once; you ` +
    "get what it printed and the value of its last expression.",
  sharedSession: "Cells share one session, like a notebook; a name can be declared again.",
  topLevelAwait: (typesBlock) =>
    ` Top-level await works; await every Promise. ${typesBlock ? "A cell with a type error does not run." : "Types are not checked."}`,
  objectsByName: "Use the objects below by name. You see types, not values: print the values that you rely on.",
  remoteObjects: (language) =>
    language === "python"
      ? "The host's objects are in another process: call them without `await`; data is a copy. To make several calls at " +
        "once, use asyncio.to_thread."
      : "The host's objects are in another process: each call and member takes `await`; data is a copy, assign it back to " +
        "change it.",
  compute: "Compute with code, not in your head. Never invent output.",
  changesAreReal:
    "Changes to objects are real. When a cell fails, what ran before the error has happened: fix the rest, do not " +
    "repeat it.",
  changesRollBack:
    "Changes to objects are real. A failed cell is rolled back, except what its note lists: fix it and send it whole.",
  outputIsCut: (maxChars, language) =>
    `Output over ${maxChars} characters is cut; a note names the variable that has all of it. ` +
    `\`_\` is the last value${language === "python" ? ", `Out` has the last 8 by cell number" : ""}.`,
  cellTimeLimit: (seconds) => `A cell is stopped after ${seconds} seconds: work in steps.`,
  howToEnd:
    "To end your work, answer in plain text without a code block, or call `finish(text)` in a cell whose output cannot " +
    "change your answer. The user sees only this answer, no cell output. The user's message has the local time.",
  callTools:
    "Act by calling tools; look before you rely on something. Never write down a result you have not received.",
  severalCalls:
    "Several calls in one answer run in order, also after one that failed; neighbouring calls that only look something " +
    "up run at the same time.",
  failedCalls: "When a call fails, its result says why: fix the call, do not repeat it unchanged.",
  endWithAnswer:
    "When the task is done, answer in plain text without a tool call: the user gets that text, and it ends your work.",
  endWithFinish:
    "When the task is done, call finish with the answer: only that ends your work, and the user sees nothing else of " +
    "it. finish may follow other calls in the same answer.",
  endOrWait: "When you are done or need the user, write plain text without a tool call: the user reads it and replies.",
  sessionContents: "# What is in the session",
  nothingYet: (language) =>
    `Nothing yet; ${language === "python" ? "Python's standard library is" : "JavaScript and Node.js are"} available.`,
  inferredTypes: "`// inferred`: this type was read from the value.",
  inferredRows:
    "`// inferred`: this type was read from the value. In rows, null, NaN and missing values occur only where noted.",
  workspace: "# Workspace",
  workspacePlace(folder, branch, changed) {
    if (folder === undefined) return "Your workspace"
    const files = changed === undefined ? "" : `, ${changed} changed file${changed === 1 ? "" : "s"}`
    return `Your workspace, the folder "${folder}"${branch === undefined ? "" : ` (git branch ${branch}${files})`},`
  },
  workspaceEmpty: (place) => `${place} was empty at the start.`,
  workspaceContents: (place, entries, more) =>
    `${place} contained at the start: ${entries.join(", ")}${more === 0 ? "" : `, and ${more ?? "perhaps"} more`}`,
  skills: "# Skills",
  activateByTool: "Before a task that one fits, call activate_skill with its name: instructions follow.",
  activateInCell: (call) => `Before a task that one fits, run \`${call}\` in a cell of its own: instructions follow.`,
  noImports: "Imports: none.",
  importsOnly: (names, more) => `Imports: only ${[...names, ...(more > 0 ? [`${more} more`] : [])].join(", ")}.`,
  imports: (from, refused) => `Imports: ${from.join(", ") || "none"}${refused && `; not ${refused}`}.`,
  installedPackages: "installed packages",
  nodeModules: "Node's modules",
  someNodeModules: (names) => `Node's ${names.join(", ")} …`,
  anyPackage: "any installed package",
  noNetwork: "No network.",
  fetchRefused: "`fetch` is not allowed.",
  fetchWorks: "`fetch` works.",
  fetchFails: "No network: `fetch` fails.",
  skillActive: (name) => `The skill "${name}" is active; its instructions are above.`,
  skillFollows: (name, afterCell) =>
    `The skill "${name}" is active; its instructions follow${afterCell ? " the output of this cell" : ""}.`,
  noSkillInstructions: "(It has no instructions.)",
  skillCompatibility: (text) => `Compatibility: ${text}`,
  skillOtherLanguage: (file, written, own, other) =>
    `Its functions are not here: ${file} is ${written}, and this session runs ${own}. Do the work without them, or ` +
    `tell the user that the skill needs an agent that runs ${other}.`,
  skillNeedsRuntime: "It also has functions, which need an agent that runs code: you do not have them.",
  skillFiles: (call) => `Its files, as \`${call}\` gives them:`,
  currentTime: (weekday, time, zone) => `(It is ${weekdays[weekday]} ${time}, ${zone}.)`,
  newNames: "New in the session:",
  assignOutputs:
    "Before you give your answer, assign these variables, at the top level of a cell. They are checked and handed over; " +
    "your answer need not repeat them.",
  outputsMissing:
    "(You are not done: not all declared variables are assigned and valid. Fix this in a cell, then give your answer.)",
  openTodos: (list) =>
    `(These todos are open. Do them, or mark them with write_todos; then answer again, completely.\n${list})`,
  noToolCalled:
    "(You called no tool. When the task is done, call finish with the answer; otherwise go on with the next call.)",
  finishedWithFailure:
    "(finish had no effect, because a tool call in the same answer failed. Read its result, then finish again.)",
  finishedBeforeCode:
    "(finish had no effect, because another code block followed. Only the first block of a message is run: go on.)",
  emptyAnswer: "(Your last answer was empty. Go on with the task.)",
  interruptedHere: "(The run was interrupted here.)",
  outputLimit: `(Your answer hit the output limit. ${goOn} Keep what is left short.)`,
  outputLimitBeforeAnswer:
    "(You reached the output limit before you answered. Think less and answer, in smaller pieces.)",
  connectionDropped: `(The connection dropped in the middle of your answer. ${goOn})`,
  otherLanguage: (own, other, tag) =>
    `(This session runs ${own}, so your ${other} code was not run. To run it, write it in ${own} in a ${block(tag)}. ${asText("it")})`,
  untaggedCode: (tag) =>
    `(Your code was not run, because it is not tagged. To run it, send it as a ${block(tag)}. ${asText("it")})`,
  otherProgram: (written, own, tag) =>
    `(Your ${block(written)} was not run: only a ${block(tag)} is. To act, write ${own} in one. ${asText("the block")})`,
  quotedCode: (tag) =>
    `(Your code was not run, because it is in a quotation. To run it, send it as a ${block(tag)} without ">". ${asText("it")})`,
  emptyBlock: (tag) =>
    `(Nothing was run: your block contains no code. Write the fence \`\`\`${tag} on a line of its own, then the code.)`,
  callAsText: (tag) => `(Your call was not made: a call written as text has no effect. To act, write a ${block(tag)}.)`,
  unknownMarkup: (name, tag) => `(Nothing was run: <${name}> has no effect. To act, write a ${block(tag)}.)`,
  blockNeverClosed: (tag) =>
    `(Your code was not run: its block was never closed. Send it again, complete, as a ${block(tag)}.)`,
  onlyThoughts: (tag) =>
    `(Your answer has only thoughts; code in thoughts is not run. After </think>, write a ${block(tag)} or the answer.)`,
}
