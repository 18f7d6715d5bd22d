import type { Routing } from '../../log/event.ts'
import type { Reader } from '../../storage/database.ts'
import type { WakePolicy } from './agent.ts'
import { findNameAndPolicy } from './agent-store.ts'
import { identityFrom, operatorId } from './identity.ts'

/** Somebody whom an event concerns. */
export interface Party {
  readonly id: string
  /** `@donna` */
  readonly identity: string
  /** Its `defaultWakePolicy`: whether an event wakes it whose sender did not choose a policy. Source: D20. */
  readonly wakePolicy: WakePolicy
}

/** Reads a party by its id: an agent's, or `operator`. */
export async function partyOf(db: Reader, id: string): Promise<Party> {
  const row = id === operatorId ? undefined : await findNameAndPolicy(db, id)
  return { id, identity: identityFrom(id, row?.handle), wakePolicy: row?.defaultWakePolicy ?? 'immediate' }
}

/** What an event says to the engine about parties that are not woken at once by default. Empty for most events. Pure. Source: D20. */
export function policiesOf(
  parties: readonly Pick<Party, 'id' | 'wakePolicy'>[],
): Pick<Routing, 'policies'> | Record<string, never> {
  const others = parties.filter(({ wakePolicy }) => wakePolicy !== 'immediate')
  if (others.length === 0) return {}
  return { policies: Object.fromEntries(others.map(({ id, wakePolicy }) => [id, wakePolicy])) }
}
