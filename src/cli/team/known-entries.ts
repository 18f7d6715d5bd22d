import { isDeepStrictEqual } from 'node:util'
import type { AgentView, PermissionView, SubscriptionView } from '../../client/route-types.ts'
import { anyMode } from '../../words/modes.ts'
import type { ChosenTarget } from '../../words/targets.ts'
import type { KnownTeam } from './read-team.ts'
import type { Team, TeamAgent, TeamGrant, TeamSubscription } from './team.ts'

/** A team as a file would have it. Without keys, states, and what a gateway counts. */
export const knownTeam = ({ agents, subscriptions, grants }: KnownTeam): Required<Team> => ({
  agents: agents.map(agentEntry),
  subscriptions: subscriptions.map(subscriptionEntry),
  grants: grants.map(grantEntry),
})

export function agentEntry(agent: AgentView): TeamAgent {
  const { handle, displayName, description, aliases, skills, inputModes, outputModes } = agent
  const { access, contactPolicy, defaultWakePolicy } = agent
  return {
    handle,
    ...(displayName === null ? {} : { displayName }),
    ...(description === null ? {} : { description }),
    ...(aliases.length === 0 ? {} : { aliases: [...aliases] }),
    ...(skills.length === 0 ? {} : { skills: [...skills] }),
    ...(isDeepStrictEqual(inputModes, anyMode) ? {} : { inputModes: [...inputModes] }),
    ...(isDeepStrictEqual(outputModes, anyMode) ? {} : { outputModes: [...outputModes] }),
    access,
    contactPolicy,
    defaultWakePolicy,
  }
}

export function subscriptionEntry(subscription: SubscriptionView): TeamSubscription {
  const { agentIdentity, trigger, filters, harnessTarget, status } = subscription
  const { withoutSubjects: _ofItsKey, reader: _ofAProgram, ...metadata } = subscription.harnessTargetMetadata
  return {
    agentIdentity,
    trigger,
    ...(Object.keys(filters).length === 0 ? {} : { filters: filters as TeamSubscription['filters'] }),
    harnessTarget: harnessTarget as ChosenTarget,
    harnessTargetMetadata: metadata,
    ...(status === 'paused' ? { status } : {}),
  }
}

export const grantEntry = ({ grantor, grantee, scope }: PermissionView): TeamGrant => ({
  grantor,
  grantee,
  scope: scope as TeamGrant['scope'],
})
