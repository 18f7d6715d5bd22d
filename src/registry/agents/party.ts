import type { Routing } from '../../log/event.ts'
import type { Reader } from '../../storage/database.ts'
import type { WakePolicy } from '../../words/policies.ts'
import { identityIn } from './agent.ts'
import { findNameAndPolicy } from './agent-store.ts'
import { identityFrom, operatorId } from './identity.ts'

/** An agent or operator that an event concerns. */
export interface Party {
  readonly id: string
  /** The project of an agent; null: it has none, as the operator, or was removed. */
  readonly projectId: string | null
  /** `@donna` */
  readonly identity: string
  /** Its `defaultWakePolicy`: whether an event wakes it whose sender did not choose a policy. Source: D20. */
  readonly wakePolicy: WakePolicy
}

/** Reads a party by its id: an agent's, or `operator`. */
export async function partyOf(db: Reader, id: string): Promise<Party> {
  const row = id === operatorId ? undefined : await findNameAndPolicy(db, id)
  const { handle, projectId = null, defaultWakePolicy: wakePolicy = 'immediate' } = row ?? {}
  return { id, projectId, identity: identityFrom(id, handle), wakePolicy }
}

/** The name of a party in a project: `@donna` in its own, `web:@donna` in others. Pure. Source: S4-14, D19. */
export function nameOfParty({ identity, projectId }: Party, inProject: string): string {
  return projectId === null ? identity : identityIn(inProject, { handle: identity, projectId })
}

/** Returns the part of an event for the engine, about parties that are not woken at once by default. Empty for most events. Pure. Source: D20. */
export function policiesOf(
  parties: readonly Pick<Party, 'id' | 'wakePolicy'>[],
): Pick<Routing, 'policies'> | Record<string, never> {
  const others = parties.filter(({ wakePolicy }) => wakePolicy !== 'immediate')
  if (others.length === 0) return {}
  return { policies: Object.fromEntries(others.map(({ id, wakePolicy }) => [id, wakePolicy])) }
}
