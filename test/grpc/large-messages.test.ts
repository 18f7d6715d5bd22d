import { SendMessageRequest } from '@a2a-js/sdk'
import { type ServiceError, status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { sending } from '../a2a/wire.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { bearer, type Refusal, rawClient, refusalOf } from './raw-client.ts'

const megabytes = (count: number) =>
  SendMessageRequest.fromJSON({
    tenant: 'agents/donna',
    ...sending({ parts: [{ text: 'x'.repeat(count * 1_048_576) }] }),
  })

/** A gateway whose project has these limits. `beside`: a request of bob, so that mallory is not alone. */
async function start(limits: Record<string, number>) {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  await gateway.call('PATCH', '/v1/projects/default', { limits })
  const donna = await gateway.addAgent('donna')
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  const client = rawClient(gateway.grpcTarget)
  return {
    gateway,
    clock,
    client,
    mallory,
    beside: () => gateway.call('GET', '/v1/whoami', undefined, { key: bob.key }),
    send: async (count: number, deadlineMs?: number) => {
      await gateway.call('GET', '/v1/whoami', undefined, { key: bob.key })
      const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs }
      return (await client.unary('sendMessage', megabytes(count), bearer(mallory.key), options)) as Refusal
    },
    tasks: async () => (await gateway.call('GET', '/v1/tasks?role=assignee', undefined, donna)).body.totalSize,
    /** Moves time on until it is answered. Others stay active. */
    async settled<T>(answer: Promise<T>): Promise<T> {
      let isOver = false
      void answer.finally(() => {
        isOver = true
      })
      await until(
        async () => {
          await gateway.call('GET', '/v1/whoami', undefined, { key: bob.key })
          if (!isOver) clock.advance(100)
        },
        () => isOver,
      )
      return answer
    },
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

const refusedAsLarge = {
  code: status.RESOURCE_EXHAUSTED,
  reason: 'RATE_LIMITED',
  info: { limitName: 'largeMegabytesPerMinute' },
}

test('of large messages that come at once, in streams too, one goes on and the others are refused by name', async () => {
  await using s = await start({ largeMegabytesPerMinute: 1 })
  const stream = () => {
    const events = s.client.stream('sendStreamingMessage', megabytes(2), bearer(s.mallory.key))
    return new Promise<Partial<Refusal>>((resolve) => {
      events.once('data', () => {
        resolve({})
        events.cancel()
      })
      events.once('error', (error) => resolve(refusalOf(error as ServiceError)))
    })
  }
  const answers = await Promise.all([s.send(2), s.send(2), stream(), stream()])
  const refused = answers.filter((answer) => 'code' in answer)
  expect(refused).toHaveLength(3)
  for (const one of refused) expect(one).toMatchObject(refusedAsLarge)
  expect(await s.tasks()).toBe(1)
})

test('what an agent sends over gRPC counts for what it sends over HTTP, and the next message waits unread', async () => {
  await using s = await start({ largeMegabytesPerMinute: 1 })
  expect(await s.send(2)).toHaveProperty('value')
  const message = sending({ parts: [{ text: 'x'.repeat(100_000) }] })
  const caller = { key: s.mallory.key, headers: { 'a2a-version': '1.0' } }
  const overHttp = await s.settled(s.gateway.call('POST', '/agents/donna/message:send', message, caller))
  expect(overHttp.body.error.details[0].metadata.limitName).toBe('largeMegabytesPerMinute')
  expect(await s.settled(s.send(2))).toMatchObject(refusedAsLarge)
  expect(await s.tasks()).toBe(1)
})

test('of two large messages that come at once the second waits until its agent may send it', async () => {
  await using s = await start({ largeMegabytesPerMinute: 60 })
  let answered = 0
  const count = (answer: Refusal) => {
    answered++
    return answer
  }
  const answers = [s.send(2).then(count), s.send(2).then(count)]
  await Promise.race(answers)
  for (let n = 0; n < 20; n++) await s.beside()
  expect(answered).toBe(1)
  for (const answer of await s.settled(Promise.all(answers))) expect(answer).toHaveProperty('value')
})

test('a call that ends while its message waits sends nothing, and frees its place', async () => {
  await using s = await start({ largeMegabytesPerMinute: 4, requestsAtOnce: 1, requestsAtOnceInCompany: 1 })
  expect(await s.send(2)).toHaveProperty('value')
  expect(await s.send(2, 300)).toMatchObject({ code: status.DEADLINE_EXCEEDED })
  s.clock.advance(120_000)
  expect(await s.send(2)).toHaveProperty('value')
  expect(await s.tasks()).toBe(2)
})
