// Encodes and decodes references to objects and functions that are not copied, for one connection.
import type { Caller } from "./caller.ts"
import { type HostObjects, pathFromBinding } from "./host-objects.ts"
import { readMember } from "./operations/reachable-members.ts"
import type { HostAccess } from "./operations.ts"
import { createPeerObjects, isPeerObject, type Peer, peerObjectOf, peerReference } from "./peer-objects.ts"
import { type DecodeReferences, type EncodeReferences, expectId, expectRecord, expectText } from "./wire.ts"

/** Returns the binding and the title of a live object at a position in a value, such as `.values[3].lamp`. */
export type NameReference = (where: string) => { binding: string; title: string }

/** Names objects that were not reached through a binding. */
export const nameUnbound: NameReference = (where) => ({ binding: "the host", title: where.replace(/^\./, "") })

export function createReferenceCodec(objects: HostObjects, access: HostAccess, peer: Peer) {
  const { functions, guards, usedObjects } = access
  const peerObjects = createPeerObjects(peer)
  return {
    /** Makes every object that the peer sent before unusable. */
    forgetPeerObjects: (): void => peerObjects.releaseAll(),
    encodeReferences: (nameReference: NameReference): EncodeReferences => ({
      isHandle: isPeerObject,
      encodeReference(value, where) {
        if (peerObjectOf(value)) return peerReference(value, peer)
        const { binding, title } = nameReference(where)
        return objects.encodeReference(value, binding, title)
      },
    }),
    /** With a caller, host functions decode to gated functions. Without one, the runtime's owner gets the originals. */
    decodeReferences: (caller: Caller | undefined): DecodeReferences => ({
      decodeHostObject({ id }) {
        const { bound, original } = objects.find(expectId(id))
        if (caller) usedObjects.markUsed(original)
        if (!caller || typeof original !== "function") return original
        if (bound) return functions.passBound(bound, caller)
        // The cell received a guarded method as a plain function.
        const guarded = guards.find(undefined, undefined, original)
        if (!guarded) return original
        const { object: owner, method: name, binding } = guarded
        return functions.passMethod({ owner, name, bindingName: binding, pathFromBinding: name }, caller)
      },
      decodeHostMethod({ of, name: given }) {
        const found = objects.find(expectId(expectRecord(of).id))
        const { value: owner, binding } = found
        if (caller) usedObjects.markUsed(found.original)
        const name = expectText(given)
        const method = readMember(owner, name)
        if (typeof method !== "function") throw new TypeError(`${binding}.${name} is not a function`)
        if (!caller) return method.bind(owner)
        // If the field holds a function that a cell stored there, return that same function.
        const bound = functions.findBinding(method)
        if (bound) return functions.passBound(bound, caller)
        const stored = functions.methodOf(method)
        const own = { owner, name, bindingName: binding, pathFromBinding: pathFromBinding(found, [name]) }
        return functions.passMethod(stored ?? own, caller)
      },
      decodePeerObject: (tagged) => peerObjects.receive(tagged, caller),
    }),
  }
}
