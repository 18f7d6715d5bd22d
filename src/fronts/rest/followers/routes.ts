import { z } from 'zod'
import { Problem } from '../../../errors.ts'
import { beginFollowing, endFollowing } from '../../../following/follow.ts'
import { pollFollower, readFollowed } from '../../../following/poll.ts'
import { holdMaxMs, statusOf } from '../../../following/view.ts'
import { type OpenCall, revoked } from '../../../identity/open-calls.ts'
import { sizeLimits } from '../../../limits.ts'
import { identitiesOf } from '../../../registry/agents/identity.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { listFollowers } from '../../../registry/followers/follower-store.ts'
import type { FrontContext } from '../../front-context.ts'
import { address, count, line } from '../fields.ts'
import { namedAgent } from '../named-agent.ts'
import { pageFields, pageOf } from '../page.ts'
import { route } from '../route.ts'
import { type FollowedView, followedView, followerView } from './view.ts'

const limitDefault = 100
/** The time between two polls where they are held, and where one may not be, in ms. */
const pollMs = { held: 1_000, unheld: 10_000 }

const newFollower = z.strictObject({ taskId: line(sizeLimits.id.max).min(1).optional() })
const pollQuery = z.strictObject({ waitSeconds: count(1, holdMaxMs / 1000).optional() })
const listQuery = z.strictObject({ agent: address.optional(), ...pageFields })
const ofAgent = { operator: 'never', agent: 'own', peer: 'never', audited: 'no' } as const

/** `/v1/followers`: what an agent follows as MCP tasks, for the front of MCP. Source: SEP-2663. */
export const followerRoutes = [
  route('POST /v1/followers', {
    name: 'follower.begin',
    what: 'follow a task',
    access: { scope: 'work', ...ofAgent },
    body: newFollower,
    status: 201,
    handle: async ({ caller, body, untilGone, slot }, context): Promise<FollowedView> => {
      slot.release()
      const follower = await beginFollowing(context.following, caller, body.taskId, untilGone(context.stopping))
      if (follower) return followedView({ follower, status: 'working', state: null }, pollMs.held)
      return { ...nothingToFollow, taskId: body.taskId ?? null }
    },
  }),
  route('GET /v1/followers', {
    name: 'follower.list',
    what: 'list what is followed',
    access: { ...ofAgent, scope: 'read', operator: 'any' },
    query: listQuery,
    handle: async ({ caller, query }, { db, clock }) => {
      const { limit = limitDefault, pageToken: after = '' } = query
      const named = await namedAgent(db, caller, query.agent)
      const of = named ? { agentId: named.id } : { projectId: caller.projectId }
      const found = await listFollowers(db, of, { after, limit: limit + 1 })
      const { items, nextPageToken } = pageOf(found, limit, ({ id }) => id)
      const identity = await identitiesOf(db, [...new Set(items.map(({ agentId }) => agentId))])
      return {
        followers: items.map((one) => followerView(one, identity(one.agentId), clock.now())),
        nextPageToken,
      }
    },
  }),
  route('GET /v1/followers/:id', {
    name: 'follower.poll',
    what: 'ask for the end of what is followed',
    access: { scope: 'work', ...ofAgent },
    query: pollQuery,
    handle: async ({ caller, params, query, untilGone, slot }, context): Promise<FollowedView> => {
      const { waitSeconds } = query
      if (waitSeconds === undefined) return followedView(await readFollowed(context.db, caller, params.id), pollMs.held)
      using openCall = openHeld(context, caller)
      const gone = untilGone()
      const ended = openCall ? [openCall.signal] : []
      const signal = AbortSignal.any([gone, context.stopping, ...ended])
      if (openCall) slot.release()
      const timeoutMs = openCall ? waitSeconds * 1000 : 0
      const followed = await pollFollower(context.following, caller, params.id, { timeoutMs, signal, gone })
      if (openCall?.signal.aborted && followed.status === 'working') throw revoked()
      return followedView(followed, openCall ? pollMs.held : pollMs.unheld)
    },
  }),
  route('DELETE /v1/followers/:id', {
    name: 'follower.end',
    what: 'follow something no more',
    access: { scope: 'work', ...ofAgent },
    status: 200,
    handle: async ({ caller, params }, context): Promise<FollowedView> => {
      const follower = await endFollowing(context.following, caller, params.id)
      return followedView({ follower, status: statusOf(follower, false), state: null }, pollMs.held)
    },
  }),
] as const

const nothingToFollow = { followerId: null, status: 'completed', state: null, pollIntervalMs: pollMs.held } as const

/** Counts a held poll as a blocking call. Undefined: its agent has as many as it may have, and the poll is answered at once. */
function openHeld({ openCalls }: FrontContext, caller: Caller): OpenCall | undefined {
  try {
    return openCalls.open(caller, 'blockingCalls')
  } catch (error) {
    if (error instanceof Problem && error.code === 'limit-exceeded') return undefined
    throw error
  }
}
