import type { Caller } from "./caller.ts"
import type { HostObjects } from "./host-objects.ts"
import { readMember } from "./members.ts"
import type { HostAccess } from "./operations.ts"
import { isPeerObject, type Peer, type PeerObjects, peerObjectOf, peerReference } from "./peer-objects.ts"
import { type DecodeReferences, type EncodeReferences, idIn, recordIn, textIn } from "./wire.ts"

/** The binding and the title of a live object by its place in the body of an ask, such as `.values[3].lamp`. */
export type NameLive = (where: string) => { binding: string; title: string }

/** Names objects that were reached by no binding. */
export const unnamed: NameLive = (where) => ({ binding: "the host", title: where.replace(/^\./, "") })

/** What the references in values mean on the host's end of a connection. */
export interface References {
  /** `given` receives the numbers of the host objects that were referred to. */
  encodeReferences(named: NameLive, given: number[]): EncodeReferences
  /** `caller`: host code gets gated functions, passed on by that cell; without one, the owner of the runtime gets the
   *  host's own functions. */
  decodeReferences(caller: Caller | undefined): DecodeReferences
}

export function createReferences({
  objects,
  peerObjects,
  peer,
  access: { functions, guards },
}: {
  objects: HostObjects
  peerObjects: PeerObjects
  peer: Peer
  access: HostAccess
}): References {
  return {
    encodeReferences: (named, given) => ({
      isHandle: isPeerObject,
      reference(value, where) {
        if (peerObjectOf(value)) return peerReference(value, peer)
        const { binding, title } = named(where)
        const tagged = objects.reference(value, binding, title)
        given.push(idIn(tagged.$ === "hm" ? recordIn(tagged.of).id : tagged.id))
        return tagged
      },
    }),
    decodeReferences: (caller) => ({
      hostObject({ id }) {
        const { bound, original } = objects.find(idIn(id))
        if (!caller || typeof original !== "function") return original
        if (bound) return functions.passBound(bound, caller)
        // A guarded method that came to the cell as a function by itself.
        const guarded = guards.find(undefined, undefined, original)
        if (!guarded) return original
        return functions.passMethod({ owner: guarded.object, name: guarded.method, binding: guarded.binding }, caller)
      },
      hostMethod({ of, name: given }) {
        const { value: owner, binding } = objects.find(idIn(recordIn(of).id))
        const name = textIn(given)
        const method = readMember(owner, name)
        if (typeof method !== "function") throw new TypeError(`${binding}.${name} is not a function`)
        return caller ? functions.passMethod({ owner, name, binding }, caller) : method.bind(owner)
      },
      peerObject: (tagged) => peerObjects.receive(tagged, caller),
    }),
  }
}
