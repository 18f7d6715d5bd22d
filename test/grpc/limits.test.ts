import { SendMessageRequest } from '@a2a-js/sdk'
import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { sending } from '../a2a/wire.ts'
import { startGateway } from '../support/gateway.ts'
import { bearer, type Refusal, rawClient } from './raw-client.ts'

const message = () => SendMessageRequest.fromJSON({ tenant: 'agents/donna', ...sending() })

test('a rate that is used up is RESOURCE_EXHAUSTED with its name, before and within an operation', async () => {
  await using gateway = await startGateway({ env: { ROUSE_MESSAGES_PER_MINUTE: '2' } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  await gateway.addAgent('donna')
  using client = rawClient(gateway.grpcTarget)
  const send = (key: string) => client.unary('sendMessage', message(), bearer(key)) as Promise<Refusal>
  await send(mallory.key)
  await send(mallory.key)
  const refused = await send(mallory.key)
  expect([refused.code, refused.reason]).toEqual([status.RESOURCE_EXHAUSTED, 'RATE_LIMITED'])
  expect(refused.details).toContain('has sent 2 messages within a minute')
  expect(refused.info).toMatchObject({ code: 'rate-limited', limit: '2', limitName: 'messagesPerMinute' })
  expect(await send(bob.key)).toHaveProperty('value')

  await gateway.call('PATCH', '/v1/projects/default', { limits: { requestsPerMinute: 2, messagesPerMinute: 0 } })
  const answers = []
  for (let n = 0; n < 6; n++) answers.push(await send(bob.key))
  const last = answers.at(-1)!
  expect([last.code, last.reason, last.info?.limitName]).toEqual([
    status.RESOURCE_EXHAUSTED,
    'RATE_LIMITED',
    'requestsPerMinute',
  ])
})

test('calls above the concurrent limit wait, and all are answered', async () => {
  await using gateway = await startGateway({ env: { ROUSE_MESSAGES_PER_MINUTE: '0' } })
  const mallory = await gateway.addAgent('mallory')
  await gateway.addAgent('donna')
  await gateway.call('PATCH', '/v1/projects/default', { limits: { requestsAtOnce: 2 } })
  using client = rawClient(gateway.grpcTarget)
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => client.unary('sendMessage', message(), bearer(mallory.key))),
  )
  expect(answers.every((answer) => 'value' in answer)).toBe(true)
})
