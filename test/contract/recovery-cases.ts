import { eventView } from '../../src/fronts/rest/events/view.ts'
import type { LogEvent, NewEvent } from '../../src/log/event.ts'
import { clearedEvent, raisedEvent } from '../../src/needs/need-event.ts'
import { deferredEvent, gateEvent, pulseEvent, recoveryEvent } from '../../src/recovery/recovery-event.ts'
import { eventTypes } from '../../src/words/events.ts'
import { factsOf, noon, present } from '../recovery/facts.ts'
import type { TestAgent } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import { inWorld, type World } from './exchange.ts'
import { type FixtureCase, pretty } from './fixture.ts'
import { ask, done, plain, rest } from './rest-requests.ts'
import { together } from './together.ts'

interface Scene extends World {
  readonly donna: TestAgent
}

const ofDonna = { handle: 'donna' }

/** As the checker orders a restart, which takes it twelve minutes. */
const order = `update recovery set epoch = 1, mode = 'restart', since = ?, evidence = '{}', acted_for = 'x', acts = ?`

const recoveryExchanges = together<Scene>(
  (play) =>
    inWorld(async (world) => {
      const donna = await world.gateway.addAgent('@donna')
      await play({ ...world, donna })
    }),
  [
    rest('turns/begin', 'A program of the agent asks before it begins a turn for a wake.', ({ donna }) =>
      plain('POST /v1/turns', donna),
    ),
    rest('turns/list', 'The account of turns.', () => plain('GET /v1/turns', undefined, ofDonna)),
    rest('turns/end', 'The turn has ended, and its harness says what it cost.', async ({ gateway, donna }) => {
      const { body } = await gateway.call('GET', '/v1/turns?agent=donna')
      return plain('POST /v1/turns/:id/end', donna, { turn: body.turns[0].turnId })
    }),
    rest('recovery/gate', 'What recovery may do in a new project.', () => plain('GET /v1/gate')),
    rest(
      'recovery/gate-change',
      'The operator lets bridges start the harness of one agent anew.',
      async ({ gateway }) => {
        await done(gateway, ask('PATCH', '/v1/gate', { restarts: 'enabled' }))
        const { body, ...change } = plain('PATCH /v1/gate')
        return { ...change, body: { agent: '@donna', ...(body as object) } }
      },
    ),
    rest(
      'recovery/account',
      'A bridge gives account of itself; there is an order for it.',
      async ({ gateway, clock, donna }) => {
        await done(gateway, plain('PUT /v1/recovery/bridge', donna))
        await besideStore(gateway.dataDir, order, clock.now(), JSON.stringify([{ mode: 'restart', at: clock.now() }]))
        return plain('PUT /v1/recovery/bridge', donna)
      },
    ),
    rest('recovery/begin', 'The bridge begins it.', ({ donna }) => plain('POST /v1/recovery/acts', donna)),
    rest('recovery/list', 'The restart is in flight.', () => plain('GET /v1/recovery')),
    rest('recovery/report', 'The start has failed.', ({ donna }) =>
      plain('POST /v1/recovery/acts/:epoch/report', donna, {
        epoch: '1',
      }),
    ),
    rest('recovery/heartbeat', 'No route has proved itself, so the agent depends on the heartbeat.', () =>
      plain('GET /v1/heartbeat'),
    ),
    rest('recovery/park', 'The harness of an agent is at its usage limit.', ({ donna }) =>
      plain('PUT /v1/parked', donna, {
        later: '2026-04-26T14:00:00.000Z',
      }),
    ),
    rest('recovery/parked', 'Until when, and why.', () => plain('GET /v1/parked', undefined, ofDonna)),
    rest('recovery/unpark', 'A person ends it.', () => plain('DELETE /v1/parked', undefined, ofDonna)),
  ],
)

const donna = { id: 'agent_donna', handle: '@donna' }
const ordered = { change: 'ordered', mode: 'nudge', epoch: 1, reason: 'silent_with_reason', since: noon } as const

/** The events that the passing of time brings, as the log shows them. */
const silence: readonly NewEvent[] = [
  recoveryEvent('recovery.ordered', donna, ordered),
  pulseEvent(donna, factsOf(), 'nudge'),
  recoveryEvent('recovery.ended', donna, { ...ordered, change: 'cleared', reason: 'it has acted' }),
  deferredEvent(donna, factsOf({ session: present('waitingOnApproval') })),
  recoveryEvent('recovery.parked', donna, { change: 'parked', reason: 'spend-cap', until: null, since: noon }),
  recoveryEvent('recovery.unparked', donna, { change: 'unparked', reason: '@operator ended it', since: noon }),
  gateEvent('@donna', donna.id, {
    nudges: 'tripped',
    restarts: 'tripped',
    reason: 'no act has led to a sign of life',
    changedBy: '@gateway',
    since: noon,
  }),
]

const subscriptionId = 'WAKE_SUB:3f0c9a52-7d41-4e8b-9c2d-5a1b6e7f8091'
const need = { agent: '@donna', since: '2026-04-26T10:00:00.000Z', subscriptionId } as const

/** The events for operators about what waits for them, where one has subscribed to it. */
const needs: readonly NewEvent[] = [
  raisedEvent({ kind: 'failing', ...need, text: '1 event has failed (http-503). After 3 nothing more is sent.' }),
  raisedEvent({ kind: 'degraded', ...need, text: '3 events failed in a row; the last: http-503' }),
  clearedEvent({ id: subscriptionId, kind: 'degraded', agent: '@donna' }),
]

export const recoveryCases: readonly FixtureCase[] = [
  ...recoveryExchanges,
  {
    folder: 'events/recovery',
    shows:
      'A silent agent is nudged and acts; later its harness waits for a person for long, it is parked, and its gate trips.',
    render: async () => ({ 'events.json': pretty(silence.map(shown)) }),
  },
  {
    folder: 'events/needs',
    shows: 'The first failure of a receiver, the end of its wakes, and its recovery, as operators are told.',
    render: async () => ({ 'events.json': pretty(needs.map(shown)) }),
  },
]

function shown(event: NewEvent, index: number) {
  const { type, actor, data } = event
  const row: LogEvent = {
    projectId: 'default',
    logId: index + 1,
    type,
    trigger: eventTypes[type],
    taskId: null,
    actor,
    actorId: null,
    data,
    createdAt: noon,
  }
  return eventView(row)
}
