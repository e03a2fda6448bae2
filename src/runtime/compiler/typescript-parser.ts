// Parses TypeScript with acorn and its TypeScript plugin, with corrections of the plugin and limits for hostile code.
import { tsPlugin } from "@sveltejs/acorn-typescript"
import { type AnyNode, type Options, Parser, type Program, type TokenType, tokTypes } from "acorn"
import { firstTokenOffset } from "./text-positions.ts"

/** Parses a cell as an ES module in TypeScript. A cell that is only `{ total, average }` is an object, as in other
 *  REPLs, if that makes more sense than a block. Throws a `ParseFailure`. */
export function parseTypeScript(code: string): Program {
  if (code[firstTokenOffset(code)] !== "{") return parse(code)
  let block: Program | undefined
  try {
    block = parse(code)
    if (!isMeantAsObject(block)) return block
    return new ObjectCellParser(options, code).parse()
  } catch (error) {
    return block ?? parseAsObjectOrThrow(error, code)
  }
}

// The parser is reused: creating one takes as long as parsing a line, and the engine frees it late. A parser whose
// parse failed is dropped, because its state is undefined.
let idleParser: CellParser | undefined

function parse(code: string): Program {
  const parser = idleParser ?? new CellParser(options, "")
  idleParser = undefined
  const program = parser.parseCode(code)
  idleParser = parser
  return program
}

/** Thrown by a failed parse. Not a real error with a stack: the parser tries several readings of ambiguous code and
 *  drops most of them, so failing must be cheap. */
export interface ParseFailure {
  message: string
  /** Offset in the code. */
  position: number
}

const options: Options = {
  ecmaVersion: "latest",
  sourceType: "module",
  // The plugin requires locations; our code does not read them.
  locations: true,
}

// Members of acorn and the plugin that are used or overridden below and missing in their published types.
interface ParserInternals {
  input: string
  pos: number
  context: unknown[]
  labels: unknown[]
  undefinedExports: object
  scopeStack: unknown[]
  privateNameStack: unknown[]
  decoratorStack: unknown[][]
  importsStack: unknown[][]
  readonly type: TokenType
  readonly value: unknown
  readonly isAmbientContext: boolean
  readonly acornTypeScript: { tokTypes: { [word: string]: TokenType }; keywordsRegExp: RegExp }
  parse(): Program
  initialContext(): unknown[]
  enterScope(flags: number): void
  skipLineComment(start: number): void
  eat(type: TokenType): boolean
  expect(type: TokenType): void
  nextToken(): void
  startNode(): unknown
  startNodeAt(position: number, location: unknown): Record<string, unknown>
  finishNode(node: unknown, type: string): AnyNode
  readWord1(): string
  finishToken(type: TokenType, value: string): void
  tryParse<T>(attempt: (abort: () => never) => T): { node: T | null }
  raise(position: number, message: string): void
  raiseRecoverable(position: number, message: string): void
  declareName(name: string, binding: number, position: number): void
  checkLocalExport(id: AnyNode): void
  readWord(): void
  tsParseConstModifier: unknown
  tsTryParseTypeParameters(parseModifiers?: unknown): unknown
  parseConditional(test: AnyNode, start: number, location: unknown, forInit: unknown, errors: unknown): AnyNode
  parseMaybeAssign(forInit?: unknown): AnyNode
  parseParenAndDistinguishExpression(canBeArrow: boolean, forInit: unknown): AnyNode
  parseParenArrowList(start: number, location: unknown, params: unknown, forInit: unknown): AnyNode
  parseExprList(close: TokenType, trailingComma: unknown, empty: unknown, errors: unknown): AnyNode[]
  parseObj(isPattern: unknown, errors: unknown): AnyNode
  parseBlock(ownScope: unknown, node: unknown, exitStrict: unknown): AnyNode
  parseStatement(context: unknown, topLevel: unknown, exports: unknown): AnyNode
  parseExpression(): AnyNode
  parseExpressionStatement(node: unknown, expression: AnyNode): AnyNode
  tsNextTokenCanFollowModifier(): boolean
  hasPrecedingLineBreak(): boolean
}

// acorn declares its constructor as protected and does not type its methods.
const Base = Parser.extend(tsPlugin()) as unknown as new (options: Options, code: string) => ParserInternals

class CellParser extends Base {
  /** Whether the current expression is between the `?` and `:` of a conditional, outside any brackets. */
  betweenQuestionAndColon = false
  /** The same for the current parenthesis, which may turn out to be the parameters of an arrow function. */
  outsideParenthesis = false
  afterStatic = false
  /** Characters and tokens read so far; re-read ones count again. */
  work = 0

  /** Parses another text from the state of a new parser. */
  parseCode(code: string): Program {
    Object.assign(this, initialFields)
    this.input = code
    this.context = this.initialContext()
    this.labels = []
    this.undefinedExports = Object.create(null)
    this.privateNameStack = []
    this.decoratorStack = [[]]
    this.importsStack = [[]]
    this.scopeStack = []
    this.enterScope(topScope)
    if (code.startsWith("#!")) this.skipLineComment(2)
    return this.parse()
  }

  /** The plugin reads ambiguous code once per meaning, which doubles the work with each level of nesting. Limiting the
   *  work of a whole cell keeps it linear. */
  override nextToken(): void {
    const { pos } = this
    super.nextToken()
    this.work += this.pos - pos + 1
    if (this.work > workPerCharacter * (this.input.length + 1000)) throw new RangeError("too ambiguous to parse")
  }

  override raise(position: number, message: string): void {
    if (toleratedErrors.has(message)) return
    const failure: ParseFailure = Object.create(SyntaxError.prototype)
    failure.message = message
    failure.position = position
    throw failure
  }

  override raiseRecoverable(position: number, message: string): void {
    this.raise(position, message)
  }

  /** `declare const x` does not conflict with another declaration of x. */
  override declareName(name: string, binding: number, position: number): void {
    if (!this.isAmbientContext) super.declareName(name, binding, position)
  }

  /** A name of an earlier cell may be exported; exports are dropped anyway. */
  override checkLocalExport(): void {}

  /** Allows `const` type parameters in signatures too, which the plugin does not. */
  override tsTryParseTypeParameters(parseModifiers?: unknown): unknown {
    return super.tsTryParseTypeParameters(parseModifiers ?? this.tsParseConstModifier)
  }

  /** Replaces the plugin's version, which builds a regular expression per word and takes a third of the parse time. */
  override readWord(): void {
    const word = this.readWord1()
    this.finishToken(keywords.get(word) ?? tokTypes.name, word)
  }

  /** Allows a line break after `static`; after TypeScript's modifiers a line break makes them names. */
  override tsNextTokenCanFollowModifier(): boolean {
    this.afterStatic = this.value === "static"
    const can = super.tsNextTokenCanFollowModifier()
    this.afterStatic = false
    return can
  }

  override hasPrecedingLineBreak(): boolean {
    return !this.afterStatic && super.hasPrecedingLineBreak()
  }

  // In `a ? (b) : c => d` the plugin reads `(b): c => d` as an arrow function with a return type and then misses the
  // colon. As in TypeScript, that reading is used only if another colon follows.

  override parseConditional(test: AnyNode, start: number, location: unknown, forInit: unknown): AnyNode {
    if (!this.eat(tokTypes.question)) return test
    const node = this.startNodeAt(start, location)
    node.test = test
    node.consequent = this.withConditionalMark(true, () => this.parseMaybeAssign())
    this.expect(tokTypes.colon)
    node.alternate = this.parseMaybeAssign(forInit)
    return this.finishNode(node, "ConditionalExpression")
  }

  override parseParenAndDistinguishExpression(canBeArrow: boolean, forInit: unknown): AnyNode {
    if (!this.betweenQuestionAndColon) return this.readParenthesis(canBeArrow, forInit)
    const arrow = this.tryParse((abort) => {
      const node = this.readParenthesis(canBeArrow, forInit)
      if (node.type === "ArrowFunctionExpression" && node.returnType && this.type !== tokTypes.colon) abort()
      return node
    })
    return arrow.node ?? this.readParenthesis(false, forInit)
  }

  readParenthesis(canBeArrow: boolean, forInit: unknown): AnyNode {
    const { betweenQuestionAndColon: between, outsideParenthesis: outside } = this
    if (!between && !outside) return super.parseParenAndDistinguishExpression(canBeArrow, forInit)
    this.outsideParenthesis = between
    try {
      return this.withConditionalMark(false, () => super.parseParenAndDistinguishExpression(canBeArrow, forInit))
    } finally {
      this.outsideParenthesis = outside
    }
  }

  override parseParenArrowList(start: number, location: unknown, params: unknown, forInit: unknown): AnyNode {
    const read = () => super.parseParenArrowList(start, location, params, forInit)
    return this.outsideParenthesis ? this.withConditionalMark(true, read) : read()
  }

  override parseExprList(close: TokenType, trailingComma: unknown, empty: unknown, errors: unknown): AnyNode[] {
    if (!this.betweenQuestionAndColon) return super.parseExprList(close, trailingComma, empty, errors)
    return this.withConditionalMark(false, () => super.parseExprList(close, trailingComma, empty, errors))
  }

  override parseObj(isPattern: unknown, errors: unknown): AnyNode {
    if (!this.betweenQuestionAndColon) return super.parseObj(isPattern, errors)
    return this.withConditionalMark(false, () => super.parseObj(isPattern, errors))
  }

  override parseBlock(ownScope: unknown, node: unknown, exitStrict: unknown): AnyNode {
    if (!this.betweenQuestionAndColon) return super.parseBlock(ownScope, node, exitStrict)
    return this.withConditionalMark(false, () => super.parseBlock(ownScope, node, exitStrict))
  }

  withConditionalMark<T>(between: boolean, read: () => T): T {
    const before = this.betweenQuestionAndColon
    this.betweenQuestionAndColon = between
    try {
      return read()
    } finally {
      this.betweenQuestionAndColon = before
    }
  }
}

/** Parses the brace at the start of a cell as an object. */
class ObjectCellParser extends CellParser {
  override parseStatement(context: unknown, topLevel: unknown, exports: unknown): AnyNode {
    if (!topLevel) return super.parseStatement(context, topLevel, exports)
    const node = this.startNode()
    return this.parseExpressionStatement(node, this.parseExpression())
  }
}

function parseAsObjectOrThrow(failure: unknown, code: string): Program {
  try {
    return new ObjectCellParser(options, code).parse()
  } catch {
    throw failure
  }
}

/** Returns true if a cell is one block without effect: a label before a value, or only names. */
function isMeantAsObject({ body: [block, ...more] }: Program): boolean {
  if (block?.type !== "BlockStatement" || more.length > 0 || block.body.length !== 1) return false
  const [statement] = block.body
  if (statement?.type === "LabeledStatement") return statement.body.type === "ExpressionStatement"
  if (statement?.type !== "ExpressionStatement") return false
  const { expression } = statement
  const parts = expression.type === "SequenceExpression" ? expression.expressions : [expression]
  return parts.every((part) => part.type === "Identifier")
}

const toleratedErrors = new Set([
  // `delete x` removes a name from the namespace; the compiler refuses it for a local variable.
  "Deleting local variable in strict mode",
  // Errors of the type checker; the program runs anyway.
  "This member cannot have an 'override' modifier because its containing class does not extend another class.",
  "Abstract methods can only appear within an abstract class.",
])

const topScope = 1

const workPerCharacter = 20

// The initial positions, flags and first token of a parser. `parseCode` recreates the fields that a parse changes in
// place.
const initialFields = Object.fromEntries(
  Object.entries(new CellParser(options, "")).filter(([key, value]: [string, unknown]) => {
    return Object(value) !== value || key === "type" || key.endsWith("Loc")
  }),
)

const { tokTypes: typeScriptTokens, keywordsRegExp } = new Base(options, "").acornTypeScript

const keywords = new Map<string, TokenType>([
  ...Object.values(tokTypes).flatMap((type): [string, TokenType][] => (type.keyword ? [[type.keyword, type]] : [])),
  ...Object.entries(typeScriptTokens).filter(([word]) => keywordsRegExp.test(word)),
])
