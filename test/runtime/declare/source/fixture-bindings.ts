import type { Binding } from "../../../../src/runtime/bindings.ts"
import { parseCell } from "../../../../src/runtime/compiler/parse-cell.ts"
import { declareBindings } from "../../../../src/runtime/declare/declare-bindings.ts"
import { bound } from "../declare-text.ts"

type Home = typeof import("./fixture/home.ts")

/** Binds what the module of the fixture exports. */
export function homeBindings(home: Home): Map<string, Binding> {
  const { Light, findLights, groupBy, add, query, house, addTwo } = home
  return bound({ light: new Light("desk"), findLights, groupBy, add, query, house, addTwo, Store: home.default })
}

/** Returns the declarations as `describe()` does, after checking that they are TypeScript. */
export function declaredFromFiles(bindings: ReadonlyMap<string, Binding>, remote = false): string {
  const text = declareBindings(bindings, bindings, remote)
  parseCell(text)
  return text
}

/** The declarations of the fixture, where its files are found. */
export const homeDeclarations = `type Level = number
/** How a light changes. */
interface Fade {
  /** In milliseconds. */
  overMs?: number
  curve: "linear" | "ease"
}
/** A lamp in a room. */
declare class Light {
  constructor(name: string, watts?: number)
  /** In percent. */
  readonly level: Level
  tags: Map<string, Fade>
  /** Whether it gives light. */
  get isOn(): boolean
  readonly name: string
  /**
   * Dims to a level.
   * @param to The level to reach.
   * @param fade How to get there.
   */
  dim(to: Level, fade?: Fade): Promise<void>
  find(id: number): Light | undefined
  find(name: string, strict?: boolean): Light[]
  onChange(listener: (level: Level) => void): (() => void)
  /** Renames the device. */
  rename(name: string, options?: { silent: boolean }): string
  static create(name: string): Light
}
declare const light: Light
type Door = "front" | "back"
interface Room {
  name: string
  doors: Door[]
}
/** Finds lights. */
declare function findLights(where: Room, limit?: number): Promise<Light[]>
/** Groups by a key. */
declare function groupBy<T, K extends string>(items: T[], key: (item: T) => K): Promise<Partial<Record<K, T[]>>>
declare function add(a: number, b?: number): Promise<number>
declare function query(db: import("node:sqlite").DatabaseSync, text: string, encoding: unknown): Promise<unknown[]>
declare const house: { // inferred
  /** Opens a door. */
  open(door: Door, slowly?: boolean): boolean
  rooms: string[]
  readonly temperature: number
  close(door: Door): Promise<Room>
}
declare function addTwo(b?: number): Promise<number>
declare class Store<T extends { id: number } = any> {
  items: T[]
  put(item: T): this
}`
