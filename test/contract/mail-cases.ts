import { liftRates, type TestAgent } from '../support/gateway.ts'
import type { World } from './exchange.ts'
import type { FixtureCase } from './fixture.ts'
import { apart, ask, get, people, plain, problem } from './rest-requests.ts'

const review = { spec_id: 'SPEC-033', instructions: 'Review it. Reply when complete.' }

export const mailCases: readonly FixtureCase[] = [
  apart('mail/send', 'Mail for a name. It is stored; nothing says yet that it was delivered.', async (world) => {
    const { lola } = await people(world)
    return plain('POST /v1/messages', lola, { other: '@donna' })
  }),
  apart('mail/send-signal', 'A signal of a known type, with the payload that it must have.', async (world) => {
    const { lola } = await people(world)
    const signal = { signalType: 'ReviewRequested', payload: review, priority: 'high', wakePolicy: 'next_turn' }
    return ask('POST', '/v1/messages', { to: 'Donna', ...signal }, lola)
  }),
  apart('mail/broadcast', 'One message for everybody, with a state for each.', async (world) => {
    const { lola } = await people(world)
    return ask('POST', '/v1/messages', { to: '*', subject: 'Deploy at noon' }, lola)
  }),
  apart('mail/reply', 'A reply goes back by itself and stays in its thread.', async (world) => {
    const { lola, donna } = await people(world)
    const { messageId } = await mailSent(world, lola)
    return ask('POST', '/v1/messages', { inReplyTo: messageId, body: 'Yes.' }, donna)
  }),
  apart('mail/inbox', 'What is unread, oldest first.', async (world) => {
    const { lola, donna } = await people(world)
    await mailSent(world, lola)
    return plain('GET /v1/inbox', donna)
  }),
  apart('mail/status', 'A recipient reports its status.', async (world) => {
    const { lola, donna } = await people(world)
    const { messageId } = await mailSent(world, lola)
    return plain('POST /v1/messages/:id/status', donna, { message: messageId })
  }),
  apart(
    'mail/thread',
    'A conversation as its first sender sees it, with how far each message has come.',
    async (world) => {
      const { lola, donna } = await people(world)
      const { messageId } = await mailSent(world, lola)
      await world.gateway.call('POST', '/v1/messages', { inReplyTo: messageId, body: 'Yes.' }, { key: donna.key })
      await world.gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'resolved' }, { key: donna.key })
      return plain('GET /v1/threads/:id', lola, { thread: messageId })
    },
  ),
  apart('mail/drained', 'The start of a session hands over what waited, in the fields of a signal.', async (world) => {
    const { lola, donna } = await people(world)
    await mailSent(world, lola)
    return ask('POST', '/v1/sessions', { surface: 'claude_code' }, donna)
  }),
  apart('mail/pending', 'Any answer to an agent with a session takes along what waits for it.', async (world) => {
    const { lola, donna } = await people(world)
    await world.gateway.call('POST', '/v1/sessions', { surface: 'claude_desktop' }, { key: donna.key })
    await mailSent(world, lola)
    return plain('GET /v1/wake-subscriptions', donna)
  }),
  problem('message-status-conflict', 'A chain goes forward only: `from`, and what is `allowed`.', async (world) => {
    const { lola, donna } = await people(world)
    const { messageId } = await mailSent(world, lola)
    await world.gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'acked' }, { key: donna.key })
    return ask('POST', `/v1/messages/${messageId}/status`, { status: 'seen' }, donna)
  }),
  problem('thread-not-found', 'No such thread, or none of its messages is yours.', () =>
    get('/v1/threads/MESSAGE:00000000-0000-4000-8000-000000000000'),
  ),
  problem('signal-of-the-gateway', 'Only the gateway sends this signal.', async (world) => {
    const { lola } = await people(world)
    return ask('POST', '/v1/messages', { to: '@donna', signalType: 'PeerLeft', payload: {} }, lola)
  }),
  problem('rate-limited', 'A sender over its rate limit learns how long to wait.', async (world) => {
    const { lola } = await people(world)
    await liftRates(world.gateway)
    const again = { to: '@donna', subject: 'Again' }
    const send = () => world.gateway.call('POST', '/v1/messages', again, { key: lola.key })
    for (let n = 0; n < 3; n++) await Promise.all(Array.from({ length: 100 }, send))
    return ask('POST', '/v1/messages', again, lola)
  }),
  problem('storm-breaker', 'Two agents that answer each other without end are blocked for a while.', async (world) => {
    const { lola, donna } = await people(world)
    const send = (to: string, { key }: TestAgent) =>
      world.gateway.call('POST', '/v1/messages', { to, subject: 'Thanks!' }, { key })
    for (let n = 0; n < 31; n++) {
      await send('@donna', lola)
      await send('@lola', donna)
    }
    return ask('POST', '/v1/messages', { to: '@donna', subject: 'Thanks!' }, lola)
  }),
]

async function mailSent({ gateway }: World, { key }: TestAgent): Promise<{ messageId: string }> {
  const signal = { to: '@donna', signalType: 'ReviewRequested', payload: review }
  return (await gateway.call('POST', '/v1/messages', signal, { key })).body
}
