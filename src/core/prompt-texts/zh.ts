// The texts for the model in Chinese.
import type { PromptTexts } from "../prompt-texts.ts"

const block = (tag: string) => `\`\`\`${tag} 代码块`
const asText = "如果它只是回答的一部分，请标记为 ```text。"
const goOn = "请从停下的地方直接继续：不要道歉，不要重复，最后一行也不要重复。如果停在代码块里，就继续写代码。"
const weekdays = ["星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"]

export const chinese: PromptTexts = {
  codeInstructions: "你通过编写代码操作真实对象来完成任务。",
  toolInstructions: "你通过调用工具来完成任务。",
  cellsConfined: (hasTools) =>
    `这里的单元不能读写文件、启动进程或查看环境变量：请使用会话中的内容${hasTools ? "和工具" : ""}。`,
  filesByTools: "单元不能读写文件：请用工具来读写。",
  howYouWork: "# 工作方式",
  oneBlock: (tag, language) =>
    `每条消息写一个 ${language === "python" ? "Python" : "TypeScript"} 的 ${block(tag)}，然后停下。它会立即运行；你会得到它的输出和最后一个` +
    "表达式的值。",
  sharedSession: "各单元共享一个会话，像 notebook 一样；名称可以重新声明。",
  topLevelAwait: (typesBlock) =>
    `可以使用顶层 await；每个 Promise 都要 await。${typesBlock ? "有类型错误的单元不会运行。" : "不检查类型。"}`,
  objectsByName: "按名称使用下面的对象。你看到的是类型而不是值：打印你要依赖的值。",
  remoteObjects: (language) =>
    language === "python"
      ? "宿主的对象在另一个进程：调用时不用 `await`；数据是副本。要同时调用多个，用 asyncio.to_thread。"
      : "宿主的对象在另一个进程：每次调用和访问成员都要 `await`；数据是副本，修改后要赋值回去。",
  compute: "用代码计算，不要心算。绝不编造输出。",
  changesAreReal: "对对象的修改是真实的。单元失败时，出错之前的部分已经生效：只修正其余部分，不要重复。",
  changesRollBack: "对对象的修改是真实的。失败的单元会回滚，其提示列出的除外：修正后完整地重新发送。",
  outputIsCut: (maxChars, language) =>
    `超过 ${maxChars} 个字符的输出会被截断；提示会给出保存全文的变量。\`_\` 是最后一个值${language === "python" ? "，`Out` 按单元编号保存最近 8 个" : ""}。`,
  cellTimeLimit: (seconds) => `单元运行超过 ${seconds} 秒会被停止：请分步进行。`,
  howToEnd:
    "要结束工作，请用不含代码块的纯文本回答；如果单元的输出不会改变回答，也可在该单元里调用 `finish(text)`。用户只看到这个回答，看不到单元的输出。" +
    "用户的消息里有当地时间。",
  callTools: "通过调用工具来行动；依赖某事之前先查看。绝不写下没有收到的结果。",
  severalCalls: "一个回答里的多个调用按顺序执行，前面的失败后也继续；相邻的只读调用同时执行。",
  failedCalls: "调用失败时，结果会说明原因：修正调用，不要原样重复。",
  endWithAnswer: "任务完成后，用纯文本回答，不调用工具：用户会收到这段文本，工作随之结束。",
  endWithFinish:
    "任务完成后，调用 finish 并给出回答：只有这样才结束工作，用户看不到其他内容。finish 可以跟在同一回答的其他调用之后。",
  endOrWait: "完成任务或需要用户时，写纯文本，不调用工具：用户会阅读并回复。",
  sessionContents: "# 会话中的对象",
  nothingYet: (language) =>
    `目前没有；可以使用${language === "python" ? " Python 标准库" : " JavaScript 和 Node.js"}。`,
  inferredTypes: "`// inferred`：此类型由值推断。",
  inferredRows: "`// inferred`：此类型由值推断。各行中只有注明之处才有 null、NaN 或缺失值。",
  workspace: "# 工作区",
  workspacePlace(folder, branch, changed) {
    if (folder === undefined) return "你的工作区"
    const files = changed === undefined ? "" : `，${changed} 个文件有改动`
    return `你的工作区是文件夹“${folder}”${branch === undefined ? "" : `(git 分支 ${branch}${files})`}，`
  },
  workspaceEmpty: (place) => `${place}开始时为空。`,
  workspaceContents: (place, entries, more) =>
    `${place}开始时包含：${entries.join(", ")}${more === 0 ? "" : more === undefined ? "，可能还有更多" : `，另有 ${more} 项`}`,
  skills: "# 技能",
  activateByTool: "执行适合某个技能的任务之前，用它的名称调用 activate_skill：随后会给出说明。",
  activateInCell: (call) => `执行适合某个技能的任务之前，在单独的单元里运行 \`${call}\`：随后会给出说明。`,
  noImports: "导入：不允许。",
  importsOnly: (names, more) => `导入：只允许 ${names.join(", ")}${more > 0 ? ` 等，另有 ${more} 个` : ""}。`,
  imports: (from, refused) => `导入：${from.join("、") || "不允许"}${refused && `；不允许 ${refused}`}。`,
  installedPackages: "已安装的包",
  nodeModules: "Node 的模块",
  someNodeModules: (names) => `Node 的 ${names.join(", ")} …`,
  anyPackage: "任何已安装的包",
  noNetwork: "没有网络。",
  fetchRefused: "不允许使用 `fetch`。",
  fetchWorks: "可以使用 `fetch`。",
  fetchFails: "没有网络：`fetch` 会失败。",
  skillActive: (name) => `技能“${name}”已激活；它的说明在上文。`,
  skillFollows: (name, afterCell) => `技能“${name}”已激活；它的说明${afterCell ? "在此单元的输出之后" : "随后给出"}。`,
  noSkillInstructions: "(它没有说明。)",
  skillCompatibility: (text) => `兼容性：${text}`,
  skillOtherLanguage: (file, written, own, other) =>
    `它的函数在这里不可用：${file} 是 ${written}，而此会话运行 ${own}。请不用它们来完成工作，或告诉用户此技能需要运行 ${other} 的 agent。`,
  skillNeedsRuntime: "它还有一些函数，需要能运行代码的 agent：你没有这些函数。",
  skillFiles: (call) => `它的文件，用 \`${call}\` 读取：`,
  currentTime: (weekday, time, zone) => `(现在是 ${time} ${weekdays[weekday]}，${zone}。)`,
  newNames: "会话中新增：",
  assignOutputs: "在给出回答之前，在单元的顶层为这些变量赋值。它们会被检查并交付；回答里不必重复。",
  outputsMissing: "(任务还没有完成：并非所有声明的变量都已赋值且有效。请在单元里修正，然后给出回答。)",
  openTodos: (list) => `(这些待办事项还没有完成。请完成它们，或用 write_todos 标记；然后重新给出完整的回答。\n${list})`,
  noToolCalled: "(你没有调用工具。任务完成时，调用 finish 并给出回答；否则继续下一个调用。)",
  finishedWithFailure: "(finish 没有生效，因为同一回答里有工具调用失败。请阅读其结果，然后再次 finish。)",
  finishedBeforeCode: "(finish 没有生效，因为后面还有代码块。一条消息只运行第一个代码块：请继续。)",
  emptyAnswer: "(你的上一个回答是空的。请继续任务。)",
  interruptedHere: "(运行在此中断。)",
  outputLimit: `(你的回答达到了输出上限。${goOn}剩下的部分请简短。)`,
  outputLimitBeforeAnswer: "(还没有回答就达到了输出上限。请少思考，分成小段回答。)",
  connectionDropped: `(回答中途连接断开。${goOn})`,
  otherLanguage: (own, other, tag) =>
    `(此会话运行 ${own}，所以你的 ${other} 代码没有运行。要运行它，请用 ${own} 写在 ${block(tag)} 里。${asText})`,
  untaggedCode: (tag) => `(你的代码没有标记语言，所以没有运行。要运行它，请作为 ${block(tag)} 发送。${asText})`,
  otherProgram: (written, own, tag) =>
    `(你的 ${block(written)} 没有运行：只运行 ${block(tag)}。要行动，请在其中写 ${own}。${asText})`,
  quotedCode: (tag) => `(你的代码在引用里，所以没有运行。要运行它，请作为不带“>”的 ${block(tag)} 发送。${asText})`,
  emptyBlock: (tag) => `(没有运行任何内容：代码块里没有代码。请把 \`\`\`${tag} 单独写一行，然后写代码。)`,
  callAsText: (tag) => `(调用没有执行：写成文本的调用无效。要行动，请写 ${block(tag)}。)`,
  unknownMarkup: (name, tag) => `(没有运行任何内容：<${name}> 无效。要行动，请写 ${block(tag)}。)`,
  blockNeverClosed: (tag) => `(你的代码没有运行：代码块没有结束。请作为完整的 ${block(tag)} 重新发送。)`,
  onlyThoughts: (tag) => `(你的回答只有思考；思考里的代码不会运行。请在 </think> 之后写 ${block(tag)} 或回答。)`,
}
