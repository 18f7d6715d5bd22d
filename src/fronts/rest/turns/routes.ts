import { z } from 'zod'
import { beginTurn, reportTurn } from '../../../recovery/begin-turn.ts'
import { identitiesOf } from '../../../registry/agents/identity.ts'
import { turnOutcomes } from '../../../turns/turn.ts'
import { listTurns } from '../../../turns/turn-store.ts'
import { address, count, line, oneOf } from '../fields.ts'
import { namedAgent, oneAgent } from '../named-agent.ts'
import { pageOf } from '../page.ts'
import { route } from '../route.ts'
import { answerView, type TurnAnswer, turnView } from './view.ts'

const limitDefault = 50
const amount = z.int({ error: 'is a number' }).min(0).max(1_000_000_000).optional()

const turnsQuery = z.strictObject({
  agent: address.optional(),
  limit: count(1, 200).optional(),
  pageToken: line(100).optional(),
})

const turnInput = z.strictObject({ eventId: line(100).min(1), route: line(60).min(1), agent: address.optional() })

const turnEndInput = z.strictObject({
  agent: address.optional(),
  outcome: oneOf(turnOutcomes),
  detail: line(200).optional(),
  cost: z
    .strictObject({ model: line(100).optional(), inputTokens: amount, outputTokens: amount, durationMs: amount })
    .optional(),
})

/** `/v1/turns`: the account of turns. Source: D53. */
export const turnRoutes = [
  route('GET /v1/turns', {
    name: 'turns.list',
    what: 'list turns',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: turnsQuery,
    handle: async ({ caller, query }, { recovery: { db } }) => {
      const { limit = limitDefault, pageToken: before = '' } = query
      const named = await namedAgent(db, caller, query.agent)
      const of = named ? { agentId: named.id } : { projectId: caller.projectId }
      const found = await listTurns(db, of, { before, limit: limit + 1 })
      const { items, nextPageToken } = pageOf(found, limit, ({ id }) => id)
      const identity = await identitiesOf(db, [...new Set(items.map((turn) => turn.agentId))])
      return { turns: items.map((turn) => turnView(turn, identity(turn.agentId))), nextPageToken }
    },
  }),
  route('POST /v1/turns', {
    name: 'turns.begin',
    what: 'ask for a turn',
    access: { scope: 'work', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    body: turnInput,
    handle: async ({ caller, body }, { recovery }): Promise<TurnAnswer> =>
      answerView(await beginTurn(recovery, await oneAgent(recovery.db, caller, body.agent), body)),
  }),
  route('POST /v1/turns/:id/end', {
    name: 'turns.end',
    what: 'report the end of a turn',
    access: { scope: 'work', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    body: turnEndInput,
    handle: async ({ caller, params, body }, { recovery }) => {
      await reportTurn(recovery, await oneAgent(recovery.db, caller, body.agent), params.id, body)
      return { turnId: params.id, outcome: body.outcome }
    },
  }),
] as const
