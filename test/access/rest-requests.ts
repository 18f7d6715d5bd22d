import { restTable } from '../../src/fronts/rest/table.ts'
import { isOwned, plant, plants } from '../requests/plants.ts'
import { type AnySample, type Planned, planned, type RestRoute } from '../requests/sample.ts'
import { samples } from '../requests/samples.ts'
import { wordsOf } from '../requests/words.ts'
import { projectSecret, secret, type World } from './world.ts'

export interface RestCase {
  /** Makes the target of the request, as donna or the operator, and returns its name. Called again for each caller that succeeds. */
  readonly plant: (world: World) => Promise<Planned>
  /** The request names nothing of donna's: it is about the caller's own, or its own project's. */
  readonly atHome?: true
  /** The answer to an allowed caller, if no request can succeed in this setup. */
  readonly answers?: number
}

interface Change extends AnySample {
  readonly answers?: number
  readonly before?: (world: World) => Promise<unknown>
}

/** The event type that every caller has. */
const eventType = { name: 'message.status_changed' }

/**
 * Changes of the samples: a request of the walk names something of donna's where it can, and has only fields that every caller of its route
 * may send.
 */
const changes: { readonly [Route in RestRoute]?: Change } = {
  'POST /v1/agents': { body: { handle: ':newHandle' } },
  'PATCH /v1/agents/:handle': { body: { description: projectSecret } },
  'POST /v1/agents/:handle/keys': { body: { label: secret } },
  'GET /v1/wake-subscriptions': { query: { agent: ':handle' } },
  'POST /v1/wake-subscriptions': {
    body: { ...samples['POST /v1/wake-subscriptions'].body, agentIdentity: '@:handle' },
  },
  'PATCH /v1/wake-subscriptions/:id': { body: { harnessTargetMetadata: { coalesceWindow: 3 } } },
  // A stream would go on: the subscription's wakes go elsewhere, which only its owner learns.
  'GET /v1/wake-stream': { query: { subscription: ':subscription' }, answers: 400 },
  'POST /v1/event-types/poll': { body: eventType },
  // Nobody answers the challenge.
  'POST /v1/event-subscriptions': {
    body: { ...samples['POST /v1/event-subscriptions'].body, ...eventType, arguments: {} },
    answers: 422,
  },
  'POST /v1/event-subscriptions/end': { body: { ...eventType, url: ':callback' } },
  'GET /v1/inbox': { query: { agent: ':project::handle' }, before: plants.message },
  'PUT /v1/presence': {
    before: async ({ gateway, keyOf }) => {
      for (const who of ['donna', 'mike', 'gina', 'zoe'] as const)
        await gateway.call('POST', '/v1/sessions', { surface: 'test' }, { key: keyOf(who) })
    },
  },
  // No order has been given.
  'POST /v1/recovery/acts': { answers: 409 },
  'POST /v1/recovery/acts/:epoch/report': { answers: 409 },
  'POST /v1/turns': { body: { ...samples['POST /v1/turns'].body, agent: '@:handle' } },
  // The turn is nobody's.
  'POST /v1/turns/:id/end': { body: { agent: '@:handle', outcome: 'completed' }, answers: 404 },
  // An id is for the key that has it: of an agent's keys too, any other gets what an unknown id gets.
  'GET /v1/followers/:id': { of: 'wake', answers: 404 },
  'DELETE /v1/followers/:id': { of: 'wake', answers: 404 },
  // While an operator has a browser, the log has what waits for a person.
  'POST /v1/push/subscriptions': {
    body: { ...samples['POST /v1/push/subscriptions'].body, endpoint: 'https://10.0.0.1/' },
    answers: 422,
  },
  // Of another operator too, an id is for the key that has it.
  'DELETE /v1/push/subscriptions/:id': { of: 'turn', answers: 404 },
  'POST /v1/permissions': { body: { grantor: ':handle', grantee: ':other', scope: 'CAN_REPLY_TO' } },
  'POST /v1/claims/handoff': { body: { ref: ':spareClaim', to: ':other' } },
  'POST /v1/tokens/revoke': { body: { token: ':token' } },
  'PATCH /v1/projects/:project': { body: { limits: { streams: null } } },
  'GET /v1/events': { query: { since: '0', limit: '1000' } },
}

/** One valid request for each row of the table, by the row's name. */
export const restCases: Record<string, RestCase> = Object.fromEntries(
  restTable.routes.map(({ route, operation }) => [operation.name, caseOf(route as RestRoute)]),
)

function caseOf(route: RestRoute): RestCase {
  const { answers, before, ...change }: Change = changes[route] ?? {}
  const sample: AnySample = { ...samples[route], ...change }
  const words = wordsOf(planned(route, sample, {}))
  const isAtHome = !words.some((word) => isOwned(word) || word === 'token')
  return {
    ...(isAtHome ? { atHome: true } : {}),
    ...(answers === undefined ? {} : { answers }),
    async plant(world) {
      await before?.(world)
      const ids: Record<string, string> = {}
      for (const word of words) {
        const id = word === 'token' ? await world.newToken() : await plant(word, world)
        if (id !== undefined) ids[word] = id
      }
      return planned(route, sample, ids)
    },
  }
}
