// The 16 tools of the store, over live objects. They behave as the reference implementation does, with its mistakes.
import { evaluate } from "./arithmetic.ts"
import { pythonJson, pythonRound } from "./python-text.ts"
import type { Address, Order, OrderItem, PaymentMethod, Product, User, Variant } from "./records.ts"
import { findUser, getOrder, getPaymentMethod, getProduct, getUser, required, type Store } from "./store.ts"

export type StoreResult = string | User | Order | Product | Variant

export interface StoreTool {
  /** Whether it changes the store. */
  writes: boolean
  /** The type of the result, for the declaration. */
  result: "string" | "User" | "Order" | "Product" | "Variant"
  /** Throws an Error if the call is refused; the reference returns `Error: ` and its message. */
  call(store: Store, input: StoreInput): StoreResult
}

/** Calls a tool by its name, with an input that its schema has checked. Throws an Error if the call is refused. */
export function callStore(store: Store, name: string, input: object): StoreResult {
  const tool = storeTools[name]
  if (!tool) throw new Error(`There is no tool ${name}.`)
  return tool.call(store, { ...noInput, ...input })
}

/** The arguments of all tools; each reads its own. */
export interface StoreInput extends Address {
  expression: string
  order_id: string
  user_id: string
  product_id: string
  item_id: string
  reason: string
  item_ids: string[]
  new_item_ids: string[]
  payment_method_id: string
  first_name: string
  last_name: string
  email: string
  summary: string
}

const noInput: StoreInput = {
  ...{ expression: "", order_id: "", user_id: "", product_id: "", item_id: "", reason: "", payment_method_id: "" },
  ...{ first_name: "", last_name: "", email: "", summary: "" },
  ...{ address1: "", address2: "", city: "", country: "", state: "", zip: "" },
  item_ids: [],
  new_item_ids: [],
}

export const storeTools: Record<string, StoreTool> = {
  calculate: reading("string", (_store, { expression }) => {
    if (!/^[\d+\-*/(). ]*$/.test(expression)) throw new Error("Invalid characters in expression")
    return pythonJson(pythonRound(evaluate(expression)))
  }),
  find_user_id_by_email: reading("string", (store, { email }) => {
    return findUser(store, (user) => same(user.email, email))
  }),
  find_user_id_by_name_zip: reading("string", (store, { first_name, last_name, zip }) => {
    return findUser(
      store,
      ({ name, address }) =>
        same(name.first_name, first_name) && same(name.last_name, last_name) && address.zip === zip,
    )
  }),
  get_item_details: reading("Variant", ({ products }, { item_id }) => {
    const variants = [...products.values()].flatMap((product) => product.variants)
    return required(
      variants.find((variant) => variant.item_id === item_id),
      "Item not found",
    )
  }),
  get_order_details: reading("Order", (store, { order_id }) => getOrder(store, order_id)),
  get_product_details: reading("Product", (store, { product_id }) => getProduct(store, product_id)),
  get_user_details: reading("User", (store, { user_id }) => getUser(store, user_id)),
  list_all_product_types: reading("string", ({ products }) => {
    const names = [...products.values()].map(({ name, product_id }) => [name, product_id] as const)
    return pythonJson(new Map(names.sort(([a], [b]) => (a < b ? -1 : 1))))
  }),
  transfer_to_human_agents: reading("string", () => "Transfer successful"),
  cancel_pending_order: writing("Order", cancelOrder),
  exchange_delivered_order_items: writing("Order", exchangeItems),
  modify_pending_order_address: writing("Order", (store, { order_id, ...address }) => {
    const order = getOrder(store, order_id)
    if (!order.status.includes("pending")) throw new Error("Non-pending order cannot be modified")
    order.address = newAddress(address)
    return order
  }),
  modify_pending_order_items: writing("Order", modifyItems),
  modify_pending_order_payment: writing("Order", modifyPayment),
  modify_user_address: writing("User", (store, { user_id, ...address }) => {
    const user = getUser(store, user_id)
    user.address = newAddress(address)
    return user
  }),
  return_delivered_order_items: writing("Order", returnItems),
}

function cancelOrder(store: Store, { order_id, reason }: StoreInput): Order {
  const order = getOrder(store, order_id)
  if (order.status !== "pending") throw new Error("Non-pending order cannot be cancelled")
  if (reason !== "no longer needed" && reason !== "ordered by mistake") throw new Error("Invalid reason")
  for (const { amount, payment_method_id } of [...order.payment_history]) {
    changeBalance(getPaymentMethod(store, order.user_id, payment_method_id), amount)
    order.payment_history.push({ transaction_type: "refund", amount, payment_method_id })
  }
  order.status = "cancelled"
  order.cancel_reason = reason
  return order
}

function exchangeItems(store: Store, input: StoreInput): Order {
  const { order_id, item_ids, new_item_ids, payment_method_id } = input
  const order = getOrder(store, order_id)
  if (order.status !== "delivered") throw new Error("Non-delivered order cannot be exchanged")
  checkItems(order, item_ids, (id) => `Number of ${id} not found.`)
  if (item_ids.length !== new_item_ids.length) throw new Error("The number of items to be exchanged should match.")
  const variants = newVariants(store, order, input)
  const difference = pythonRound(priceDifference(variants))
  const method = getPaymentMethod(store, order.user_id, payment_method_id)
  if (isTooSmall(method, difference)) {
    throw new Error("Insufficient gift card balance to pay for the price difference")
  }
  order.status = "exchange requested"
  order.exchange_items = item_ids.toSorted()
  order.exchange_new_items = new_item_ids.toSorted()
  order.exchange_payment_method_id = payment_method_id
  order.exchange_price_difference = difference
  return order
}

function modifyItems(store: Store, input: StoreInput): Order {
  const { order_id, item_ids, new_item_ids, payment_method_id } = input
  const order = getOrder(store, order_id)
  if (order.status !== "pending") throw new Error("Non-pending order cannot be modified")
  checkItems(order, item_ids, (id) => `${id} not found`)
  if (item_ids.length !== new_item_ids.length) throw new Error("The number of items to be exchanged should match")
  const variants = newVariants(store, order, input, (item, id) => {
    if (item.item_id === id) throw new Error("The new item id should be different from the old item id")
  })
  const difference = priceDifference(variants)
  const method = getPaymentMethod(store, order.user_id, payment_method_id)
  if (isTooSmall(method, difference)) throw new Error("Insufficient gift card balance to pay for the new item")
  const transaction_type = difference > 0 ? "payment" : "refund"
  order.payment_history.push({ transaction_type, amount: Math.abs(difference), payment_method_id })
  changeBalance(method, -difference)
  // The reference gives every changed item the price and the options of the last variant.
  const last = variants.at(-1)?.variant
  for (const [index, id] of item_ids.entries()) {
    const item = required(findItem(order, id), `Item ${id} not found`)
    item.item_id = new_item_ids[index] ?? ""
    if (last) Object.assign(item, { price: last.price, options: last.options })
  }
  order.status = "pending (item modified)"
  return order
}

function modifyPayment(store: Store, { order_id, payment_method_id }: StoreInput): Order {
  const order = getOrder(store, order_id)
  if (!order.status.includes("pending")) throw new Error("Non-pending order cannot be modified")
  const method = getPaymentMethod(store, order.user_id, payment_method_id)
  const [first, ...more] = order.payment_history
  if (!first || more.length > 0 || first.transaction_type !== "payment") {
    throw new Error("There should be exactly one payment for a pending order")
  }
  const { amount, payment_method_id: earlier } = first
  if (earlier === payment_method_id) {
    throw new Error("The new payment method should be different from the current one")
  }
  if (isTooSmall(method, amount)) throw new Error("Insufficient gift card balance to pay for the order")
  order.payment_history.push(
    { transaction_type: "payment", amount, payment_method_id },
    { transaction_type: "refund", amount, payment_method_id: earlier },
  )
  changeBalance(method, -amount)
  changeBalance(getPaymentMethod(store, order.user_id, earlier), amount)
  return order
}

function returnItems(store: Store, { order_id, item_ids, payment_method_id }: StoreInput): Order {
  const order = getOrder(store, order_id)
  if (order.status !== "delivered") throw new Error("Non-delivered order cannot be returned")
  const method = getPaymentMethod(store, order.user_id, payment_method_id)
  if (method.source !== "gift_card" && payment_method_id !== order.payment_history[0]?.payment_method_id) {
    throw new Error("Payment method should be the original payment method")
  }
  checkItems(order, item_ids, () => "Some item not found")
  order.status = "return requested"
  order.return_items = item_ids.toSorted()
  order.return_payment_method_id = payment_method_id
  return order
}

interface NewVariant {
  item: OrderItem
  /** At the time of the call: the item changes later. */
  oldPrice: number
  variant: Variant
}

function newVariants(
  store: Store,
  order: Order,
  { item_ids, new_item_ids }: StoreInput,
  check: (item: OrderItem, newId: string) => void = () => {},
): NewVariant[] {
  return item_ids.map((id, index) => {
    const newId = new_item_ids[index] ?? ""
    const item = required(findItem(order, id), `Item ${id} not found`)
    check(item, newId)
    const { variants } = getProduct(store, item.product_id)
    const variant = required(
      variants.find((each) => each.item_id === newId),
      "Variant not found",
    )
    if (!variant.available) throw new Error(`New item ${newId} not found or available`)
    return { item, oldPrice: item.price, variant }
  })
}

// In the order of the reference, because sums of floating point numbers depend on it.
function priceDifference(variants: readonly NewVariant[]): number {
  return variants.reduce((sum, { oldPrice, variant }) => sum + (variant.price - oldPrice), 0)
}

function checkItems(order: Order, ids: readonly string[], message: (id: string) => string): void {
  const count = (list: readonly string[], id: string) => list.filter((each) => each === id).length
  const ordered = order.items.map(({ item_id }) => item_id)
  const missing = ids.find((id) => count(ids, id) > count(ordered, id))
  if (missing !== undefined) throw new Error(message(missing))
}

function changeBalance(method: PaymentMethod, amount: number): void {
  if (method.source === "gift_card") method.balance = pythonRound((method.balance ?? 0) + amount)
}

function isTooSmall({ source, balance = 0 }: PaymentMethod, amount: number): boolean {
  return source === "gift_card" && balance < amount
}

function findItem(order: Order, id: string): OrderItem | undefined {
  return order.items.find(({ item_id }) => item_id === id)
}

function newAddress({ address1, address2, city, country, state, zip }: Address): Address {
  return { address1, address2, city, country, state, zip }
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function reading(result: StoreTool["result"], call: StoreTool["call"]): StoreTool {
  return { writes: false, result, call }
}

function writing(result: StoreTool["result"], call: StoreTool["call"]): StoreTool {
  return { writes: true, result, call }
}
