// The records of the store as live objects. Their names are those of the data. `String(record)` is the text that a tool
// call returns.
import { pythonJson } from "./python-text.ts"

export interface Address {
  address1: string
  address2: string
  city: string
  country: string
  state: string
  zip: string
}

export interface PaymentMethod {
  source: "credit_card" | "paypal" | "gift_card"
  id: string
  brand?: string
  last_four?: string
  /** Of a gift card. */
  balance?: number
}

export class User {
  user_id = ""
  name: { first_name: string; last_name: string } = { first_name: "", last_name: "" }
  address: Address = { ...noAddress }
  email = ""
  payment_methods: Record<string, PaymentMethod> = {}
  orders: string[] = []

  toString(): string {
    return pythonJson({ ...this })
  }
}

export class Variant {
  item_id = ""
  options: Record<string, string> = {}
  available = false
  price = 0

  toString(): string {
    return pythonJson({ ...this })
  }
}

export class Product {
  name = ""
  product_id = ""
  variants: Variant[] = []

  toString(): string {
    // A list of pairs, because an object would put ids that are small numbers first.
    const variants = new Map(this.variants.map((variant) => [variant.item_id, { ...variant }]))
    return pythonJson({ ...this, variants })
  }
}

export interface OrderItem {
  name: string
  product_id: string
  item_id: string
  price: number
  options: Record<string, string>
}

export interface Payment {
  transaction_type: "payment" | "refund"
  amount: number
  payment_method_id: string
}

export class Order {
  order_id = ""
  user_id = ""
  address: Address = { ...noAddress }
  items: OrderItem[] = []
  status = ""
  fulfillments: { tracking_id: string[]; item_ids: string[] }[] = []
  payment_history: Payment[] = []
  cancel_reason: string | null = null
  exchange_items: string[] | null = null
  exchange_new_items: string[] | null = null
  exchange_payment_method_id: string | null = null
  exchange_price_difference: number | null = null
  return_items: string[] | null = null
  return_payment_method_id: string | null = null

  toString(): string {
    return pythonJson({ ...this })
  }
}

const noAddress: Address = { address1: "", address2: "", city: "", country: "", state: "", zip: "" }
