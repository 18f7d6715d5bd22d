import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import type { World } from './exchange.ts'
import type { FixtureCase } from './fixture.ts'
import { ask, get, openly, problem } from './rest-requests.ts'

const nobody = '00000000-0000-4000-8000-000000000000'
const subscriptionRequest = {
  trigger: 'SENT_TO_ME',
  harnessTarget: 'a2a-webhook',
  harnessTargetMetadata: { url: 'https://harness.example/wake', coalesceWindow: 0 },
}
export const problemCases: readonly FixtureCase[] = [
  problem('unauthenticated', 'No key at all.', () => openly('/v1/tasks')),
  problem('unauthenticated-wrong-key', 'A key that is unknown, expired or revoked.', () =>
    get('/v1/tasks', { key: 'rk_wrong' }),
  ),
  problem('forbidden', 'An agent may not register others.', async (world) =>
    ask('POST', '/v1/agents', { handle: '@other' }, await donna(world)),
  ),
  problem('not-found', 'No such path.', () => get('/v1/nothing')),
  problem('invalid-json', 'The body is no JSON.', () => ask('POST', '/v1/agents', '{"handle": "@donna"')),
  problem('invalid-request-unknown-field', 'A field that is not known is refused by name.', () =>
    ask('POST', '/v1/agents', { handle: '@donna', dipslayName: 'Donna' }),
  ),
  problem('invalid-request-several', 'Everything that is wrong, in one answer.', async (world) =>
    ask(
      'POST',
      '/v1/wake-subscriptions',
      { trigger: 'EVERYTHING', harnessTargetMetadata: { coalesceWindow: 301 }, extra: true },
      await donna(world),
    ),
  ),
  problem('agent-exists', 'A handle can be taken once.', async (world) => {
    await donna(world)
    return ask('POST', '/v1/agents', { handle: '@donna' })
  }),
  problem('agent-not-found', 'No agent has this handle.', () => get('/v1/agents/nobody')),
  problem('key-not-found', 'A key that the agent does not have cannot be revoked.', async (world) => {
    await donna(world)
    return ask('DELETE', `/v1/agents/donna/keys/${nobody}`)
  }),
  problem('permission-not-found', 'Nothing to revoke.', () => ask('DELETE', `/v1/permissions/${nobody}`)),
  problem('turn-not-found', 'No such turn, or not yours.', async (world) =>
    ask('POST', '/v1/turns/01J00000000000000000000000/end', { outcome: 'failed' }, await donna(world)),
  ),
  problem('message-not-found', 'No such message, or not yours.', () => get(`/v1/messages/MESSAGE:${nobody}`)),
  problem('task-not-found', 'No such task, or not yours.', () => get(`/v1/tasks/${nobody}`)),
  problem('task-finished', 'A finished task takes no artifacts.', async (world) => {
    const { id, key } = await finishedTask(world)
    return ask('POST', `/v1/tasks/${id}/artifacts`, { artifact: { parts: [{ text: 'late' }] } }, { key })
  }),
  problem('version-conflict', 'The task has changed since it was read: `current` is the task now.', async (world) => {
    const agent = await donna(world)
    const { id } = await world.gateway.send('@donna', 'Please review PR 7')
    await world.gateway.move(agent, id, 'working')
    return ask('POST', `/v1/tasks/${id}/transitions`, { to: 'completed', expectedVersion: 1 }, { key: agent.key })
  }),
  problem('version-required', 'A move without the version that it stands on.', async (world) => {
    const { key } = await donna(world)
    const { id } = await world.gateway.send('@donna', 'Please review PR 7')
    return ask('POST', `/v1/tasks/${id}/transitions`, { to: 'working' }, { key })
  }),
  problem('invalid-transition', 'A finished task cannot move: `from`, and what is `allowed`.', async (world) => {
    const { id, key, version } = await finishedTask(world)
    return ask('POST', `/v1/tasks/${id}/transitions`, { to: 'working', expectedVersion: version }, { key })
  }),
  problem('subscription-not-found', 'No such subscription, or not yours.', () =>
    get(`/v1/wake-subscriptions/WAKE_SUB:${nobody}`),
  ),
  problem('subscription-degraded', 'A degraded subscription is made active before it is resynced.', async (world) => {
    const { id, key } = await degradedSubscription(world)
    return ask('POST', `/v1/wake-subscriptions/${id}/resync`, { sinceLogId: 0 }, { key })
  }),
  problem('url-not-allowed', 'A webhook may not reach into the gateway’s network.', async (world) => {
    const harnessTargetMetadata = { url: 'http://169.254.169.254/latest/meta-data' }
    return ask('POST', '/v1/wake-subscriptions', { ...subscriptionRequest, harnessTargetMetadata }, await donna(world))
  }),
  problem('watermark-ahead', 'A watermark after the end of the log.', async (world) => {
    const { key } = await donna(world)
    const { body } = await world.gateway.call('POST', '/v1/wake-subscriptions', subscriptionRequest, { key })
    return ask('POST', `/v1/wake-subscriptions/${body.subscriptionId}/resync`, { sinceLogId: 1_000_000 }, { key })
  }),
]

function donna({ gateway }: World) {
  return gateway.addAgent('@donna')
}

async function finishedTask(world: World): Promise<{ id: string; key: string; version: number }> {
  const agent = await donna(world)
  const { id } = await world.gateway.send('@donna', 'Please review PR 7')
  await world.gateway.move(agent, id, 'working')
  const { body } = await world.gateway.move(agent, id, 'completed', { message: 'Done.' })
  return { id, key: agent.key, version: body.version }
}

async function degradedSubscription(world: World): Promise<{ id: string; key: string }> {
  const agent = await donna(world)
  await using receiver = await startReceiver(410)
  const { id } = await world.gateway.subscribe(agent, receiver.url)
  await world.gateway.send('@donna', 'Please review PR 7')
  await until(
    async () => (await world.gateway.call('GET', `/v1/wake-subscriptions/${id}`)).body.status,
    (status) => status === 'degraded',
  )
  return { id, key: agent.key }
}
