import { expect, test } from 'vitest'
import { startTwo } from './two-gateways.ts'

test('mail that one gateway accepts ends a wait on the other at once', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  await a.call('POST', '/v1/sessions', { surface: 'test' }, { key: donna.key })
  const waiting = a.call('GET', '/v1/inbox?waitSeconds=50', undefined, { key: donna.key })
  await a.call('GET', '/v1/whoami')
  const sentAt = performance.now()
  await b.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello' })
  expect((await waiting).body.pendingSignals).toMatchObject([{ subject: 'Hello' }])
  // Long before it would have looked by itself.
  expect(performance.now() - sentAt).toBeLessThan(10_000)
})
