import { expect, test } from 'vitest'
import { startTwo } from './two-gateways.ts'

test('a request that is repeated on the other gateway is carried out once', async () => {
  await using two = await startTwo()
  const headers = { 'Idempotency-Key': 'once' }
  const make = (on: 'a' | 'b', handle: string) =>
    two[on].call('POST', '/v1/agents', { handle }, { key: two.a.adminKey, headers })
  const first = await make('a', 'donna')
  const again = await make('b', 'donna')
  expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true'])
  expect(again.body).toEqual(first.body)
  expect((await make('b', 'lola')).body.code).toBe('idempotency-conflict')
})

test('requests with one key at both gateways at the same time: one is carried out, and each other one gets its answer or is told to look', async () => {
  await using two = await startTwo()
  const make = (n: number) => {
    const headers = { 'Idempotency-Key': `key-${n % 5}` }
    const gateway = n % 2 ? two.a : two.b
    return gateway.call('POST', '/v1/agents', { handle: `agent-${n % 5}` }, { key: two.a.adminKey, headers })
  }
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => make(n)))
  const made = answers.filter(({ status }) => status === 201)
  expect(new Set(made.map(({ body }) => body.apiKey)).size).toBe(5)
  for (const { status, body } of answers)
    if (status !== 201) expect([status, body.code]).toEqual([409, 'idempotency-begun'])
  const later = await Promise.all(Array.from({ length: 10 }, (_, n) => make(n)))
  expect(later.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual(Array(10).fill('true'))
})
