import { liftRates, type TestAgent } from '../support/gateway.ts'
import { type Arrange, exchange, type Request, type World } from './exchange.ts'
import type { FixtureCase } from './fixture.ts'

const review = { spec_id: 'SPEC-033', instructions: 'Review it. Reply when complete.' }

export const mailCases: readonly FixtureCase[] = [
  mail('send', 'Mail for a name. It is stored; nothing says yet that it was delivered.', async (world) => {
    const { lola } = await people(world)
    return post('/v1/messages', { to: '@donna', subject: 'Lunch?', body: 'At one.' }, lola)
  }),
  mail('send-signal', 'A signal of a known type, with the payload that it must have.', async (world) => {
    const { lola } = await people(world)
    const signal = { signalType: 'ReviewRequested', payload: review, priority: 'high', wakePolicy: 'next_turn' }
    return post('/v1/messages', { to: 'Donna', ...signal }, lola)
  }),
  mail('broadcast', 'One message for everybody, with a state for each.', async (world) => {
    const { lola } = await people(world)
    return post('/v1/messages', { to: '*', subject: 'Deploy at noon' }, lola)
  }),
  mail('reply', 'A reply goes back by itself and stays in its thread.', async (world) => {
    const { donna } = await people(world)
    const { messageId } = await mailSent(world)
    return post('/v1/messages', { inReplyTo: messageId, body: 'Yes.' }, donna)
  }),
  mail('inbox', 'What is unread, oldest first.', async (world) => {
    const { donna } = await people(world)
    await mailSent(world)
    return get('/v1/inbox?unread=true', donna)
  }),
  mail('status', 'A recipient reports its status.', async (world) => {
    const { donna } = await people(world)
    const { messageId } = await mailSent(world)
    return post(`/v1/messages/${messageId}/status`, { status: 'acked' }, donna)
  }),
  mail('thread', 'A conversation as its first sender sees it, with how far each message has come.', async (world) => {
    const { lola, donna } = await people(world)
    const { messageId } = await mailSent(world)
    await world.gateway.call('POST', '/v1/messages', { inReplyTo: messageId, body: 'Yes.' }, { key: donna.key })
    await world.gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'resolved' }, { key: donna.key })
    return get(`/v1/threads/${messageId}`, lola)
  }),
  mail('drained', 'The start of a session hands over what waited, in the fields of a signal.', async (world) => {
    const { donna } = await people(world)
    await mailSent(world)
    return post('/v1/sessions', { surface: 'claude_code' }, donna)
  }),
  mail('pending', 'Any answer to an agent with a session takes along what waits for it.', async (world) => {
    const { donna } = await people(world)
    await world.gateway.call('POST', '/v1/sessions', { surface: 'claude_desktop' }, { key: donna.key })
    await mailSent(world)
    return get('/v1/wake-subscriptions', donna)
  }),
  problem('message-status-conflict', 'A chain goes forward only: `from`, and what is `allowed`.', async (world) => {
    const { donna } = await people(world)
    const { messageId } = await mailSent(world)
    await world.gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'acked' }, { key: donna.key })
    return post(`/v1/messages/${messageId}/status`, { status: 'seen' }, donna)
  }),
  problem('thread-not-found', 'No such thread, or none of its messages is yours.', () =>
    get('/v1/threads/MESSAGE:00000000-0000-4000-8000-000000000000'),
  ),
  problem('signal-of-the-gateway', 'Only the gateway sends this signal.', async (world) => {
    const { lola } = await people(world)
    return post('/v1/messages', { to: '@donna', signalType: 'PeerLeft', payload: {} }, lola)
  }),
  problem('rate-limited', 'A sender over its rate limit learns how long to wait.', async (world) => {
    const { lola } = await people(world)
    await liftRates(world.gateway)
    const again = { to: '@donna', subject: 'Again' }
    const send = () => world.gateway.call('POST', '/v1/messages', again, { key: lola.key })
    for (let n = 0; n < 3; n++) await Promise.all(Array.from({ length: 100 }, send))
    return post('/v1/messages', again, lola)
  }),
  problem('storm-breaker', 'Two agents that answer each other without end are blocked for a while.', async (world) => {
    const { lola, donna } = await people(world)
    const send = (to: string, { key }: TestAgent) =>
      world.gateway.call('POST', '/v1/messages', { to, subject: 'Thanks!' }, { key })
    for (let n = 0; n < 31; n++) {
      await send('@donna', lola)
      await send('@lola', donna)
    }
    return post('/v1/messages', { to: '@donna', subject: 'Thanks!' }, lola)
  }),
]

function mail(name: string, shows: string, arrange: Arrange): FixtureCase {
  return { folder: `mail/${name}`, shows, render: () => exchange(arrange) }
}

function problem(name: string, shows: string, arrange: Arrange): FixtureCase {
  return { folder: `problems/${name}`, shows, render: () => exchange(arrange) }
}

const post = (path: string, body: unknown, { key }: TestAgent): Request => ({ method: 'POST', path, body, key })
const get = (path: string, agent?: TestAgent): Request => ({
  method: 'GET',
  path,
  ...(agent ? { key: agent.key } : {}),
})

const worlds = new WeakMap<World, Promise<{ lola: TestAgent; donna: TestAgent }>>()

function people(world: World): Promise<{ lola: TestAgent; donna: TestAgent }> {
  const known = worlds.get(world) ?? register(world)
  worlds.set(world, known)
  return known
}

async function register({ gateway }: World): Promise<{ lola: TestAgent; donna: TestAgent }> {
  return { lola: await gateway.addAgent('@lola'), donna: await gateway.addAgent('@donna') }
}

async function mailSent(world: World): Promise<{ messageId: string }> {
  const { lola } = await people(world)
  const signal = { to: '@donna', signalType: 'ReviewRequested', payload: review }
  return (await world.gateway.call('POST', '/v1/messages', signal, { key: lola.key })).body
}
