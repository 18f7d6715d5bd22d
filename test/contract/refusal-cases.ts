import Sqlite from 'better-sqlite3'
import { liftRates } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import type { World } from './exchange.ts'
import type { FixtureCase } from './fixture.ts'
import { ask, get, problem } from './rest-requests.ts'

/** Refusals that depend on what happened before: sessions, addresses, limits, retention, the store. */
export const refusalCases: readonly FixtureCase[] = [
  problem('session-ended', 'A session that has ended gets no heartbeat.', async (world) => {
    const { key } = await world.gateway.addAgent('@donna')
    const sessionId = await begin(world, key)
    await world.gateway.call('DELETE', `/v1/sessions/${sessionId}`, undefined, { key })
    return ask('PUT', `/v1/sessions/${sessionId}`, {}, { key })
  }),
  problem('session-preempted', 'An older process is refused while a newer one speaks for the agent.', async (world) => {
    const { key } = await world.gateway.addAgent('@donna')
    await begin(world, key, { pid: 2, startedAt: '2026-04-26T09:59:59.000Z' })
    const older = { surface: 'codex', pid: 1, startedAt: '2026-04-26T09:00:00.000Z' }
    return ask('POST', '/v1/sessions', older, { key })
  }),
  problem('ambiguous-address', 'A capability that two sessions have is no address: the candidates.', async (world) => {
    for (const handle of ['@donna', '@mike']) {
      const { key } = await world.gateway.addAgent(handle)
      await begin(world, key, { capabilities: ['has-telegram'] })
    }
    const { key } = await world.gateway.addAgent('@lola')
    return ask('POST', '/v1/messages', { to: 'has-telegram', subject: 'Who is there?' }, { key })
  }),
  problem('idempotency-conflict', 'The key of another request.', async (world) => {
    const { key } = await world.gateway.addAgent('@lola')
    await world.gateway.addAgent('@donna')
    const headers = { 'Idempotency-Key': 'once' }
    await world.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, { key, headers })
    return { ...ask('POST', '/v1/messages', { to: '@donna', subject: 'Dinner?' }, { key }), headers }
  }),
  problem('idempotency-begun', 'The first call with this key has begun and has no answer yet.', async ({ gateway }) => {
    const headers = { 'Idempotency-Key': 'once' }
    await gateway.call('POST', '/v1/agents', { handle: '@donna' }, { headers })
    await besideStore(gateway.dataDir, `update idempotency_key set result_id = ''`)
    return { ...ask('POST', '/v1/agents', { handle: '@donna' }), headers }
  }),
  problem('recipient-storm', 'A recipient of very many messages refuses who sent the last one.', async (world) => {
    await liftRates(world.gateway)
    await world.gateway.addAgent('@donna')
    const again = { to: '@donna', subject: 'Again' }
    const lola = await world.gateway.addAgent('@lola')
    const others = [await world.gateway.addAgent('@mike'), await world.gateway.addAgent('@ines')]
    for (const { key } of [...others, lola]) {
      const send = () => world.gateway.call('POST', '/v1/messages', again, { key })
      await Promise.all(Array.from({ length: 200 }, send))
    }
    return ask('POST', '/v1/messages', again, lola)
  }),
  problem('limit-exceeded', 'A project has as many agents as its limit allows.', async (world) => {
    await limit(world, { agents: 1 })
    await world.gateway.addAgent('@donna')
    return ask('POST', '/v1/agents', { handle: '@mike' })
  }),
  problem('quota-exceeded', 'An agent has stored as much as it may.', async (world) => {
    const { key } = await world.gateway.addAgent('@lola')
    await world.gateway.addAgent('@donna')
    await limit(world, { bytesStored: 1_000 })
    await world.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, { key })
    return ask('POST', '/v1/messages', { to: '@donna', subject: 'Dinner?' }, { key })
  }),
  problem('watermark-expired', 'The log no longer has what comes after this watermark.', async ({ gateway }) => {
    for (const handle of ['@a', '@b', '@c']) await gateway.addAgent(handle)
    await besideStore(gateway.dataDir, 'delete from event where log_id <= 2')
    await besideStore(gateway.dataDir, 'update project set log_tail = 2')
    return get('/v1/events?since=1')
  }),
  problem('subscription-paused', 'A paused subscription is made active before it is resynced.', async ({ gateway }) => {
    const agent = await gateway.addAgent('@donna')
    const { id } = await gateway.subscribe(agent, 'https://harness.example/wake')
    await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { status: 'paused' }, agent)
    return ask('POST', `/v1/wake-subscriptions/${id}/resync`, { sinceLogId: 0 }, agent)
  }),
  problem(
    'rotation-too-soon',
    'Three former keys still sign; `nextRotationAt` is when one of them ends.',
    async ({ gateway }) => {
      const agent = await gateway.addAgent('@donna')
      const { id } = await gateway.subscribe(agent, 'https://harness.example/wake')
      const path = `/v1/wake-subscriptions/${id}`
      const rotation = { rotateSigningKey: true, overlapSeconds: 3600 }
      for (let nth = 1; nth <= 3; nth++) await gateway.call('PATCH', path, rotation, agent)
      return ask('PATCH', path, rotation, agent)
    },
  ),
  problem('method-not-allowed', 'A replay is requested with POST.', async ({ gateway }) => {
    const agent = await gateway.addAgent('@donna')
    const { id } = await gateway.subscribe(agent, 'https://harness.example/wake')
    return get(`/v1/wake-subscriptions/${id}/replay`, agent)
  }),
  problem('claim-not-found', 'Nobody has claimed this ref.', () => ask('DELETE', '/v1/claims', { ref: 'issue-7' })),
  problem('project-not-found', 'No such project.', () => ask('PATCH', '/v1/projects/nowhere', {})),
  problem('unsupported-media-type', 'REST takes JSON.', () => ({
    ...ask('POST', '/v1/agents', 'handle=donna'),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })),
  problem('misdirected-request', 'A gateway on loopback answers only to its own names.', () => ({
    ...get('/v1/tasks'),
    headers: { host: 'page.example' },
  })),
  problem('headers-too-large', 'More header lines than a request may have.', () => ({
    ...get('/v1/tasks'),
    headers: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x-${n}`, ''])),
  })),
  problem('payload-too-large', 'The body has more than 1 MiB.', () =>
    ask('POST', '/v1/agents', { handle: '@donna', description: 'x'.repeat(1_048_576) }),
  ),
  problem(
    'overloaded',
    'The gateway has more work than it can do: try again.',
    async ({ gateway }) => get('/v1/tasks', await gateway.addAgent('@donna')),
    { overload: { isOver: () => true } },
  ),
  problem('internal', 'The gateway failed: the reason is in its log alone.', async ({ gateway }) => {
    await besideStore(gateway.dataDir, 'alter table claim rename to lost')
    return get('/v1/claims')
  }),
  {
    ...problem('storage-unavailable', 'The store takes no writes now: try again.', async ({ gateway }) => {
      const other = new Sqlite(`${gateway.dataDir}/rouse.db`)
      other.exec('BEGIN IMMEDIATE')
      return { ...ask('POST', '/v1/agents', { handle: '@donna' }), after: () => void other.close() }
    }),
    engine: 'sqlite',
  },
]

async function begin({ gateway }: World, key: string, fields: object = {}): Promise<string> {
  const { body } = await gateway.call('POST', '/v1/sessions', { surface: 'codex', ...fields }, { key })
  return body.sessionId
}

function limit({ gateway }: World, limits: object) {
  return gateway.call('PATCH', '/v1/projects/default', { limits })
}
