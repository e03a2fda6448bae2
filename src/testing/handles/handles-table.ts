// The table of all handle cases.
import { assignmentCases } from "./handles-assignments.ts"
import { awaitCases } from "./handles-awaits.ts"
import { callbackCases } from "./handles-callbacks.ts"
import type { HandleCases } from "./handles-case.ts"
import { classCases } from "./handles-classes.ts"
import { copyCases } from "./handles-copies.ts"
import { functionCases } from "./handles-functions.ts"
import { gateCases } from "./handles-gate.ts"
import { guardCases } from "./handles-guards.ts"
import { implicitCases } from "./handles-implicit.ts"
import { iterationCases } from "./handles-iteration.ts"
import { lifetimeCases } from "./handles-lifetime.ts"
import { memberCases } from "./handles-members.ts"
import { optionalCases } from "./handles-optional.ts"
import { peerCases } from "./handles-peers.ts"
import { shapeCases } from "./handles-shapes.ts"
import { staleCopyCases } from "./handles-stale-copies.ts"
import { valueCases } from "./handles-values.ts"
import { writeBackCases } from "./handles-write-back.ts"

/** All cases by group. A case keeps its number forever. */
export const handleGroups: { readonly [group: string]: HandleCases } = {
  values: valueCases,
  "shapes of values": shapeCases,
  members: memberCases,
  "missing awaits": awaitCases,
  "optional chains and default values": optionalCases,
  copies: copyCases,
  "writing back": writeBackCases,
  "copies that are out of date": staleCopyCases,
  assignments: assignmentCases,
  "objects of cells": peerCases,
  callbacks: callbackCases,
  "functions of the host": functionCases,
  gate: gateCases,
  guards: guardCases,
  "nothing implicit": implicitCases,
  "lifetime and limits": lifetimeCases,
  iteration: iterationCases,
  "classes and agents": classCases,
}
