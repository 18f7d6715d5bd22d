import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

// S4-2: how sessions that share a tree and a person lose each other's word. Ownership, stale claims and drifting identities are
// closed by claims and sessions; an outage by a store that survives a kill.

test('many concurrent senders to one inbox overwrite nothing: every message is there, in one order for all readers', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const writers = await Promise.all(Array.from({ length: 10 }, (_, n) => gateway.addAgent(`writer${n}`)))
  const sent = await Promise.all(
    writers.flatMap(({ key }, n) =>
      Array.from({ length: 10 }, (_, m) =>
        gateway.call('POST', '/v1/messages', { to: '@donna', subject: `${n}-${m}` }, { key }),
      ),
    ),
  )
  const read = async (order: string) =>
    (await gateway.call('GET', `/v1/inbox?order=${order}&limit=200`, undefined, { key: donna.key })).body.messages.map(
      ({ messageId }: { messageId: string }) => messageId,
    )
  const oldest = await read('oldest')
  expect([...oldest].sort()).toEqual(sent.map(({ body }) => body.messageId).sort())
  expect(await read('newest')).toEqual(oldest.reverse())
})

test('the operator reaches every agent, and every agent the operator, without an intermediary', async () => {
  await using gateway = await startGateway()
  const agents = await Promise.all(['sa', 'sb', 'sc'].map((handle) => gateway.addAgent(handle)))
  await gateway.call('POST', '/v1/messages', { to: '*', subject: 'Freeze until noon' })
  for (const { key, handle } of agents) {
    const { body } = await gateway.call('GET', '/v1/inbox', undefined, { key })
    expect(body.messages).toMatchObject([{ from: '@operator', type: 'relay', subject: 'Freeze until noon' }])
    const answer = { inReplyTo: body.messages[0].messageId, body: `${handle} stops.` }
    await gateway.call('POST', '/v1/messages', answer, { key })
  }
  const { body } = await gateway.call('GET', '/v1/inbox?unread=true')
  expect(body.messages.map(({ from }: { from: string }) => from).sort()).toEqual(['@sa', '@sb', '@sc'])
})

test('a relay is not lost in silence: until its recipient has moved it, its sender sees that it has not', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { body } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Ship it' })
  const chain = async () => {
    const [recipient] = (await gateway.call('GET', `/v1/messages/${body.messageId}`)).body.recipients
    return [recipient.status, recipient.receipt, recipient.seenAt !== null]
  }
  expect([body.delivered, body.queued, await chain()]).toEqual([false, true, ['sent', 'accepted', false]])
  await gateway.call('GET', '/v1/inbox', undefined, { key: donna.key })
  expect(await chain()).toEqual(['sent', 'accepted', false])
  await gateway.call('POST', `/v1/messages/${body.messageId}/status`, { status: 'acked' }, { key: donna.key })
  expect(await chain()).toEqual(['acked', 'acked', true])
})
