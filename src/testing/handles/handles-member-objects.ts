// Host objects for the cases in `handles-members.ts`.
export class Order {
  name = "first"
  items = ["a", "b"]
  customer = { name: "Ada", address: { name: "home" } }
  total() {
    return 5
  }
}

export class ToolCall {
  function = { name: "search", arguments: "{}" }
  answer() {}
}

export class Odd {
  name = "n"
  length = 7
  call = "c"
  apply = "a"
  bind = "b"
  arguments = "r"
  caller = "l"
  prototype = "p"
  inner = { call: { bind: { name: "deep" } }, length: 3, apply: { toString: "text" } }
  use() {}
}

export class Address {
  city = "Bern"
  label(prefix: string) {
    return `${prefix} ${this.city}`
  }
}

export class Person {
  readonly name: string
  address = new Address()
  constructor(name: string) {
    this.name = name
  }
  greet() {
    return `I am ${this.name}`
  }
}

export class Robot extends Person {
  override greet() {
    return `beep, ${super.greet()}`
  }
  get kind() {
    return "robot"
  }
}

export class Meter {
  #count = 0
  get reading() {
    return ++this.#count
  }
  get broken(): number {
    throw new Error("no battery")
  }
}

export class Vault {
  readonly #secret = 42
  open() {
    return String(this.#secret)
  }
}

export class Money {
  amount = 5
  toString() {
    return `${this.amount} CHF`
  }
  toJSON() {
    return { amount: this.amount }
  }
  valueOf() {
    return this.amount
  }
}
