import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { evaluate } from "../../evals/retail/arithmetic.ts"
import { pythonFloat, pythonJson, pythonRound } from "../../evals/retail/python-text.ts"
import { stateHash } from "../../evals/retail/state-hash.ts"
import { openStore } from "../../evals/retail/store.ts"
import { callStore } from "../../evals/retail/store-tools.ts"
import { provePort } from "../../evals/retail.ts"

const address = { address1: "1 Main St", address2: "", city: "Rome", country: "Italy", state: "RM", zip: "00100" }

function variant(item_id: string, color: string, price: number, available = true) {
  return { item_id, options: { color }, available, price }
}

// The keys of the variants are numbers, in an order that an object would not keep.
const database = JSON.stringify({
  products: { 70: { name: "Lamp", product_id: "70", variants: "VARIANTS" } },
  users: {
    ada_1: {
      user_id: "ada_1",
      name: { first_name: "Ada", last_name: "Rossi" },
      address,
      email: "ada@example.com",
      payment_methods: {
        gift_card_1: { source: "gift_card", id: "gift_card_1", balance: 20 },
        paypal_1: { source: "paypal", id: "paypal_1" },
      },
      orders: ["#W1", "#W2"],
    },
  },
  orders: { "#W1": order("#W1", "pending"), "#W2": order("#W2", "delivered") },
}).replace(
  '"VARIANTS"',
  `{"30":${JSON.stringify(variant("30", "red", 10))},"20":${JSON.stringify(variant("20", "blue", 12.5))},` +
    `"10":${JSON.stringify(variant("10", "green", 99.99))},"5":${JSON.stringify(variant("5", "grey", 1, false))}}`,
)

function order(order_id: string, status: string) {
  const item = { name: "Lamp", product_id: "70", item_id: "30", price: 10, options: { color: "red" } }
  const blue = { ...item, item_id: "20", price: 12.5, options: { color: "blue" } }
  const payment_history = [{ transaction_type: "payment", amount: 22.5, payment_method_id: "gift_card_1" }]
  return { order_id, user_id: "ada_1", address, items: [item, blue], status, fulfillments: [], payment_history }
}

describe("the store of the retail tasks", () => {
  test("writes records as the reference does, with the order of the file", () => {
    const text = String(callStore(openStore(database), "get_product_details", { product_id: "70" }))
    assert.match(text, /^\{"name": "Lamp", "product_id": "70", "variants": \{"30": .*"20": .*"10": .*"5": /)
    assert.match(text, /"price": 10\.0\}/)
    assert.match(
      String(callStore(openStore(database), "get_order_details", { order_id: "#W1" })),
      /"return_items": null/,
    )
  })

  test("finds users by e-mail, and by name and zip, whatever the case of the letters", () => {
    const store = openStore(database)
    assert.equal(callStore(store, "find_user_id_by_email", { email: "ADA@example.com" }), "ada_1")
    const named = { first_name: "ada", last_name: "ROSSI", zip: "00100" }
    assert.equal(callStore(store, "find_user_id_by_name_zip", named), "ada_1")
    assert.throws(() => callStore(store, "find_user_id_by_email", { email: "x" }), { message: "User not found" })
  })

  test("refunds a cancelled order to the gift card at once", () => {
    const store = openStore(database)
    callStore(store, "cancel_pending_order", { order_id: "#W1", reason: "no longer needed" })
    assert.equal(store.users.get("ada_1")?.payment_methods.gift_card_1?.balance, 42.5)
    assert.equal(store.orders.get("#W1")?.status, "cancelled")
    assert.equal(store.orders.get("#W1")?.payment_history.at(-1)?.transaction_type, "refund")
    assert.throws(() => callStore(store, "cancel_pending_order", { order_id: "#W1", reason: "no longer needed" }), {
      message: "Non-pending order cannot be cancelled",
    })
  })

  test("gives every modified item the price and the options of the last variant, as the reference does", () => {
    const store = openStore(database)
    const changed = {
      order_id: "#W1",
      item_ids: ["30", "20"],
      new_item_ids: ["10", "30"],
      payment_method_id: "paypal_1",
    }
    callStore(store, "modify_pending_order_items", changed)
    const items = store.orders.get("#W1")?.items ?? []
    assert.deepEqual(
      items.map(({ item_id, price, options }) => [item_id, price, options.color]),
      [
        ["10", 10, "red"],
        ["30", 10, "red"],
      ],
    )
    assert.equal(store.orders.get("#W1")?.status, "pending (item modified)")
  })

  test("refuses an exchange that the gift card cannot pay for, and one for an unavailable item", () => {
    const store = openStore(database)
    const exchange = { order_id: "#W2", item_ids: ["30"], new_item_ids: ["10"], payment_method_id: "gift_card_1" }
    assert.throws(() => callStore(store, "exchange_delivered_order_items", exchange), {
      message: "Insufficient gift card balance to pay for the price difference",
    })
    assert.throws(() => callStore(store, "exchange_delivered_order_items", { ...exchange, new_item_ids: ["5"] }), {
      message: "New item 5 not found or available",
    })
    callStore(store, "exchange_delivered_order_items", { ...exchange, payment_method_id: "paypal_1" })
    assert.equal(store.orders.get("#W2")?.exchange_price_difference, 89.99)
  })

  test("moves a payment to another method, and returns items of delivered orders only", () => {
    const store = openStore(database)
    callStore(store, "modify_pending_order_payment", { order_id: "#W1", payment_method_id: "paypal_1" })
    assert.equal(store.users.get("ada_1")?.payment_methods.gift_card_1?.balance, 42.5)
    const returned = { order_id: "#W1", item_ids: ["30"], payment_method_id: "gift_card_1" }
    assert.throws(() => callStore(store, "return_delivered_order_items", returned), {
      message: "Non-delivered order cannot be returned",
    })
    callStore(store, "return_delivered_order_items", { ...returned, order_id: "#W2" })
    assert.deepEqual(store.orders.get("#W2")?.return_items, ["30"])
  })

  test("its hash does not depend on the order of keys, on nulls, or on how whole numbers are written", () => {
    const own = { status: "pending", order_id: "#W1", user_id: "ada_1", address, items: [], fulfillments: [] }
    const payment_history = [{ transaction_type: "payment", payment_method_id: "gift_card_1", amount: 12 }]
    const text = JSON.stringify({ users: {}, products: {}, orders: { "#W1": { ...own, payment_history } } })
    const expected = "315398073b4b711068ddbf4b049f3d6e3c4216027987571aa411f428716e3dc7"
    assert.equal(stateHash(openStore(text)), expected)
    assert.equal(stateHash(openStore(text.replace('"amount":12', '"amount":12.0'))), expected)
    assert.notEqual(stateHash(openStore(text.replace('"amount":12', '"amount":12.01'))), expected)
  })

  test("a result that differs from the reference is reported by its task", () => {
    const conversation = { id: "t1", turns: [] }
    const action = { name: "find_user_id_by_email", arguments: { email: "ada@example.com" }, error: false }
    const hash = stateHash(openStore(database))
    const data = { database, baseHash: hash, policy: "", functions: [], skipped: [] }
    const good = { id: "t1", actions: [{ ...action, result: "ada_1" }], endHash: hash, conversation }
    assert.deepEqual(
      provePort({ ...data, tasks: [good] }).map(({ passed, of }) => [passed, of]),
      [
        [1, 1],
        [2, 2],
      ],
    )
    const bad = { ...good, actions: [{ ...action, result: "eva_2" }], endHash: "0" }
    const [results, states] = provePort({ ...data, tasks: [bad] })
    assert.match(results?.failures?.[0] ?? "", /task t1, find_user_id_by_email: ada_1 instead of eva_2/)
    assert.deepEqual(states?.failures, ["task t1"])
  })
})

describe("texts and numbers as Python writes them", () => {
  test("floats have a decimal point, or an exponent of two digits", () => {
    const texts = [86, 0.1, -17.99, 1e16, 3e-7, 0.0001, 123456.789, 0.04999999999999716, -0].map(pythonFloat)
    const expected = ["86.0", "0.1", "-17.99", "1e+16", "3e-07", "0.0001", "123456.789", "0.04999999999999716", "-0.0"]
    assert.deepEqual(texts, expected)
  })

  test("rounding takes the exact binary value, and a tie goes to the even digit", () => {
    assert.deepEqual([0.125, 0.375, 2.675, 1.005, -0.125, 0.625].map(pythonRound), [0.12, 0.38, 2.67, 1, -0.12, 0.62])
  })

  test("JSON has spaces after commas and colons, and no character outside of ASCII", () => {
    assert.equal(
      pythonJson({ a: [1, null, "é"], b: new Map([["2", true]]) }),
      '{"a": [1.0, null, "\\u00e9"], "b": {"2": true}}',
    )
  })

  test("sums follow the precedence of operators", () => {
    assert.equal(evaluate("2 + 3 * (4 - 1) / -2"), -2.5)
    assert.equal(evaluate("-2 ** 2 + 7 // 2"), -1)
    assert.throws(() => evaluate("1 +"), { message: "invalid syntax" })
    assert.throws(() => evaluate("1 / 0"), { message: "division by zero" })
    assert.equal(callStore(openStore(database), "calculate", { expression: "0.1 + 0.2" }), "0.3")
  })
})
