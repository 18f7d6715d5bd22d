import { A2AService } from '@a2a-js/sdk/server/grpc'
import { type ServiceError, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { bearer, type rawClient, refusalOf } from './raw-client.ts'

let gateway: TestGateway
let mallory: TestAgent
let client: ReturnType<typeof rawClient>
let id: string
const { getTask, subscribeToTask } = A2AService
const encoders = { getTask: getTask.responseSerialize, subscribeToTask: subscribeToTask.responseSerialize }

/** Answers that hold this cannot be encoded. */
const word = 'cannot be encoded'

beforeAll(async () => {
  for (const [name, encode] of Object.entries(encoders)) {
    const refuse = (value: never): Buffer => {
      if (JSON.stringify(value).includes(word)) throw new Error('secret')
      return encode(value)
    }
    Object.assign(A2AService[name as keyof typeof encoders], { responseSerialize: refuse })
  }
  gateway = await startGateway()
  // The services read the encoders when they are loaded: for the first connection.
  const { rawClient } = await import('./raw-client.ts')
  client = rawClient(gateway.grpcTarget)
  mallory = await gateway.addAgent('mallory')
  id = (await gateway.send('mallory', 'x', { key: mallory.key })).id
})

afterAll(async () => {
  client[Symbol.dispose]()
  await gateway[Symbol.asyncDispose]()
  for (const [name, responseSerialize] of Object.entries(encoders)) {
    Object.assign(A2AService[name as keyof typeof encoders], { responseSerialize })
  }
})

const tenant = 'agents/mallory'

test('an answer that cannot be encoded is an error of its call', async () => {
  const sent = await gateway.send('mallory', word, { key: mallory.key })
  const answer = await client.unary('getTask', { tenant, id: sent.id }, bearer(mallory.key))
  expect(answer).toMatchObject({ code: status.INTERNAL })
  expect(JSON.stringify(answer)).not.toContain('secret')
  expect(await client.unary('getTask', { tenant, id }, bearer(mallory.key))).toMatchObject({ value: { id } })
})

test('an event that cannot be encoded ends its stream, and no other call', async () => {
  const follow = () => client.stream('subscribeToTask', { tenant, id }, bearer(mallory.key))
  const stream = follow()
  const events: unknown[] = []
  const ended = new Promise<unknown>((resolve) => {
    stream.on('end', () => resolve('end')).on('error', (error: ServiceError) => resolve(refusalOf(error)))
  })
  await new Promise<void>((resolve) =>
    stream.on('data', (event) => {
      events.push(event)
      resolve()
    }),
  )
  const move = (body: object) => gateway.call('POST', `/v1/tasks/${id}/transitions`, body, mallory)
  expect(await move({ to: 'working', expectedVersion: 1, message: { parts: [{ text: word }] } })).toMatchObject({
    status: 200,
  })
  const outcome = await ended
  expect(outcome).toMatchObject({ code: status.INTERNAL })
  expect(JSON.stringify(outcome)).not.toContain('secret')
  expect(events).toHaveLength(1)
  await move({ to: 'completed', expectedVersion: 2, message: { parts: [{ text: 'fine' }] } })
  expect((await gateway.call('GET', '/readyz')).status).toBe(200)
})
