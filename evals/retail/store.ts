// The store: its records as live objects, and how they are found.
import { Order, type PaymentMethod, Product, User, Variant } from "./records.ts"

interface StoreData {
  users: Record<string, object>
  orders: Record<string, object>
  products: Record<string, object & { variants: Record<string, object> }>
}

export interface Store {
  users: Map<string, User>
  orders: Map<string, Order>
  products: Map<string, Product>
}

/** Reads the text of the database into live objects. */
export function openStore(text: string): Store {
  // An object puts keys that are small numbers first. The underscore keeps the order of the file.
  const data: StoreData = JSON.parse(text.replace(/(?<!\\)"(\d+)":/g, '"_$1":'))
  const records = <T extends object>(group: Record<string, object>, create: (record: object) => T) =>
    new Map(Object.entries(group).map(([id, record]) => [id.replace(/^_/, ""), create(record)]))
  return {
    users: records(data.users, (record) => Object.assign(new User(), record)),
    orders: records(data.orders, (record) => Object.assign(new Order(), record)),
    products: records(data.products, (record) => {
      const product = Object.assign(new Product(), record)
      product.variants = Object.values(product.variants).map((variant) => Object.assign(new Variant(), variant))
      return product
    }),
  }
}

export function findUser({ users }: Store, matches: (user: User) => boolean): string {
  const found = [...users].find(([, user]) => matches(user))
  return required(found, "User not found")[0]
}

export function getOrder({ orders }: Store, id: string): Order {
  return required(orders.get(id), "Order not found")
}

export function getUser({ users }: Store, id: string): User {
  return required(users.get(id), "User not found")
}

export function getProduct({ products }: Store, id: string): Product {
  return required(products.get(id), "Product not found")
}

export function getPaymentMethod(store: Store, userId: string, id: string): PaymentMethod {
  return required(getUser(store, userId).payment_methods[id], "Payment method not found")
}

export function required<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new Error(message)
  return value
}
