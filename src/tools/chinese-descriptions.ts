// The descriptions of the built-in tools in Chinese, by the English text. `{}` stands for a part that is taken over.
import type { ToolSpec } from "../models/model.ts"

/** Returns the tool with Chinese descriptions if it is a built-in tool, otherwise the tool itself. */
export function withChineseDescriptions(spec: ToolSpec): ToolSpec {
  const description = translate(spec.description)
  if (description === undefined) return spec
  return { ...spec, description, input: translateSchema(spec.input) as ToolSpec["input"] }
}

/** Translates every `description` in a JSON schema. */
function translateSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(translateSchema)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      key === "description" && typeof each === "string" ? (translate(each) ?? each) : translateSchema(each),
    ]),
  )
}

function translate(text: string): string | undefined {
  const exact = chineseDescriptions[text]
  if (exact !== undefined) return exact
  for (const [english, chinese] of Object.entries(chineseDescriptions)) {
    const [before = "", after, ...others] = english.split("{}")
    if (after === undefined || others.length > 0 || text.length < before.length + after.length) continue
    if (text.startsWith(before) && text.endsWith(after)) {
      const part = text.slice(before.length, text.length - after.length)
      return chinese.replace("{}", () => part)
    }
  }
  return undefined
}

export const chineseDescriptions: { readonly [english: string]: string } = {
  "Ends the task with the answer for the user. It may follow other calls in the same answer.":
    "给出对用户的回答并结束任务。可以跟在同一回答的其他调用之后。",
  "The complete answer. The user sees nothing else of your work.": "完整的回答。用户看不到你的其他工作。",
  "Paths of files for the user. Default: all that you wrote.": "给用户的文件路径。默认：你写过的所有文件。",
  "Asks the user a question and waits for the answer. Use it only if you cannot continue without it.":
    "向用户提问并等待回答。只在没有回答就无法继续时使用。",
  "Answers to choose from.": "可选的回答。",
  "The user may choose several. Default false.": "用户可以选择多个。默认 false。",
  "The user may give another answer. Default true.": "用户可以给出其他回答。默认 true。",
  "Replaces the whole todo list. Use it for work of several steps. At most one todo is in progress.":
    "替换整个待办列表。用于需要多个步骤的工作。最多一项处于进行中。",
  "The id that the todo has. A new todo has none.": "待办事项已有的 id。新的没有。",
  "Replaces older messages by a summary. Use it when you no longer need their details.":
    "用摘要替换较早的消息。不再需要其细节时使用。",
  "Notes that stay word for word.": "逐字保留的笔记。",
  "Reads text that was kept because it was too long or too old to show, by its name such as _output_1.":
    "按名称（如 _output_1）读取因过长或过旧而未显示的文本。",
  'A field of a JSON result, such as rows[0].name or ["a key"].': 'JSON 结果的一个字段，如 rows[0].name 或 ["a key"]。',
  "The first character.": "起始字符的位置。",
  "Lists one folder: files with sizes, folders with the number of files in them.":
    "列出一个文件夹：文件及其大小，子文件夹及其中的文件数。",
  "Include dot files.": "包括以点开头的文件。",
  "Include dot files and node_modules.": "包括以点开头的文件和 node_modules。",
  "Default 200.": "默认 200。",
  "Finds files by a glob such as src/**/*.{ts,js}. A glob without a slash matches names in every folder.":
    "按 glob（如 src/**/*.{ts,js}）查找文件。不含斜杠的 glob 匹配所有文件夹中的名称。",
  "Returns size, number of lines, time of change and kind of a file, or the size of a folder.":
    "返回文件的大小、行数、修改时间和类型，或文件夹的大小。",
  "Reads a text file with line numbers, up to 2,000 lines or 50,000 characters at once. If there is more, the result ends with a cursor for the next part.":
    "读取文本文件并带行号，一次最多 2,000 行或 50,000 个字符。如果还有更多，结果以下一部分的 cursor 结尾。",
  "False: no line numbers.": "false：不带行号。",
  "Continues where the last part ended.": "从上一部分结束处继续。",
  "Creates a file or replaces its whole content. To change a part, use edit_file.":
    "创建文件或替换其全部内容。要修改一部分，用 edit_file。",
  "Add content to the end of the file.": "把 content 追加到文件末尾。",
  "With append: a line break before content.": "与 append 一起：content 之前加换行。",
  "With append: a line break after content.": "与 append 一起：content 之后加换行。",
  "Replaces text in a file and shows the changed lines. Edits apply in order; if one fails, nothing is changed.":
    "替换文件中的文本并显示改动的行。修改按顺序进行；有一处失败则全部不改。",
  "The exact text. It must occur once, unless replaceAll: include enough lines.":
    "原文的精确文本。除非使用 replaceAll，必须只出现一次：请包含足够的行。",
  "Replace every occurrence.": "替换每一处。",
  "Searches file contents by a JavaScript regular expression, line by line. A cut result says so.":
    "用 JavaScript 正则表达式逐行搜索文件内容。结果被截断时会说明。",
  "A folder or file. Default: all files.": "文件夹或文件。默认：所有文件。",
  "Such as src/**/*.{ts,js} or !*.min.js.": "如 src/**/*.{ts,js} 或 !*.min.js。",
  "ts, py …": "ts、py 等。",
  "content (default): the lines. files: the paths. count: matches per file.":
    "content（默认）：行。files：路径。count：每个文件的匹配数。",
  "pattern is plain text.": "pattern 是普通文本。",
  "The dot matches line breaks too.": "点也匹配换行。",
  "Lines before and after each match.": "每处匹配前后的行数。",
  "Shows you an image ({}; up to 5 MB).": "显示图片（{}；最大 5 MB）。",
  "Path, or http(s) URL.": "路径，或 http(s) URL。",
  "Path.": "路径。",
  "Runs a {} command in the workspace. Of a long output you see both ends. It can write only there, and has no network.":
    "在工作区运行 {} 命令。输出很长时显示开头和结尾。只能写入工作区，没有网络。",
  "Runs a {} command in the workspace. Of a long output you see both ends. It can write only there.":
    "在工作区运行 {} 命令。输出很长时显示开头和结尾。只能写入工作区。",
  "Runs a {} command in the workspace. Of a long output you see both ends.":
    "在工作区运行 {} 命令。输出很长时显示开头和结尾。",
  "A folder of the workspace. Default: its root.": "工作区的文件夹。默认：根目录。",
  "Default {}; after that it continues in the background.": "默认 {}；超时后在后台继续。",
  "Default {}; after that it is killed.": "默认 {}；超时后终止。",
  "Return an id for check_command at once.": "立即返回用于 check_command 的 id。",
  "Returns the state of a background command and its output since the last check.":
    "返回后台命令的状态，以及上次检查之后的输出。",
  "How long to wait for its end. Default 0.": "等待其结束的时间。默认 0。",
  "Activates a skill: its instructions follow the result. With file, reads one of its files instead.":
    "激活技能：说明在结果之后给出。带 file 时，改为读取它的一个文件。",
  "Path of a file of the skill.": "技能中文件的路径。",
  "Gives tasks to sub-agents, which work on their own, side by side, and report back. There are:\n{}":
    "把任务交给子代理，它们各自独立、并行工作并汇报结果。可用的有：\n{}",
  "All it must know: it sees nothing of this conversation.": "它需要知道的一切：它看不到这个对话。",
  "Instead of agent: id of a task that asked; prompt is the answer.":
    "代替 agent：提出问题的任务的 id；prompt 是回答。",
  "Go on at once; see delegate_status. What runs ends with your task.":
    "立即继续；见 delegate_status。仍在运行的会随你的任务结束。",
  "Gives a task to the agent {}, which works on its own and reports back.": "把任务交给代理 {}，它独立工作并汇报结果。",
  "Hands the whole conversation to the agent {} This ends your work.": "把整个对话交给代理 {} 你的工作随之结束。",
  "What to tell it beside the conversation, which it knows.": "除它已知的对话之外，要告诉它的内容。",
  "Id of a task that asked; prompt is the answer.": "提出问题的任务的 id；prompt 是回答。",
  "How delegated tasks are doing, with the answers of those that are done.": "委派任务的进展，以及已完成任务的回答。",
  "Default: all, without what was reported before.": "默认：全部，不含已汇报过的。",
  "Wait until they are done.": "等待它们完成。",
}
