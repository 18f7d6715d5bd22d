import { UsageError } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { AgentView, PermissionView, SubscriptionView } from '../../client/route-types.ts'
import { targets } from '../../words/targets.ts'
import { readPages } from '../run/read-pages.ts'

/** The team of a project as its gateway has it. */
export interface KnownTeam {
  readonly project: string
  readonly agents: readonly AgentView[]
  readonly subscriptions: readonly SubscriptionView[]
  readonly grants: readonly PermissionView[]
}

/** A list that is read in part would make what is there a second time. */
const allPages = Number.POSITIVE_INFINITY

/** Reads the team of the client's project, with the key of an operator. Errors: the key is an agent's. */
export async function readTeam(gateway: GatewayClient): Promise<KnownTeam> {
  const { kind, identity, project } = await gateway.call('GET /v1/whoami')
  if (kind !== 'operator') {
    throw new UsageError(
      `A team is of an operator, and this is the key of ${identity}, which sees a part of it. Use an operator's key: --key-file <file>, or --profile <name>.`,
    )
  }
  const [agents, subscriptions, grants] = await Promise.all([
    readPages(
      (pageToken) => gateway.call('GET /v1/agents', { query: { pageToken } }),
      (page) => page.agents,
      allPages,
    ),
    readPages(
      (pageToken) => gateway.call('GET /v1/wake-subscriptions', { query: { pageToken } }),
      (page) => page.subscriptions,
      allPages,
    ),
    readPages(
      (pageToken) => gateway.call('GET /v1/permissions', { query: { pageToken } }),
      (page) => page.permissions,
      allPages,
    ),
  ])
  return { project, agents, subscriptions: subscriptions.filter(isLasting), grants: grants.filter(isOfAgents) }
}

/** One that a session has opened ends with it, and one that has a reader, or is of a client, is made by that program, such as `rouse bridge`. */
const isLasting = ({ sessionId, harnessTarget, harnessTargetMetadata }: SubscriptionView): boolean =>
  sessionId === undefined && harnessTargetMetadata.reader === undefined && !targets[harnessTarget].isOfClient

const isOfAgents = ({ grantor, grantee }: PermissionView): boolean =>
  grantor !== '@removed' && !grantee.endsWith('@removed')
