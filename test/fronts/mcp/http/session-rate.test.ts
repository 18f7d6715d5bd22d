import { expect, test } from 'vitest'
import { FakeClock } from '../../../support/fake-clock.ts'
import { startGateway } from '../../../support/gateway.ts'
import { beginSession, initialize, ping, post } from './wire.ts'

test('a session for which nothing of the rate is left is refused before its body is read', async () => {
  await using gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  await gateway.call('PATCH', '/v1/projects/default', { limits: { heavyPerMinute: 1 } })
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  const refused = await post(gateway, donna, initialize())
  expect([refused.status, refused.body.error.data.limitName]).toEqual([429, 'heavyPerMinute'])
  expect(refused.headers.get('retry-after')).toBe('60')
  const unread = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${donna.key}`, 'content-type': 'application/json' },
    body: 'this is no JSON',
  })
  expect(unread.status).toBe(429)
  // The session that there is goes on.
  expect((await post(gateway, donna, ping, session)).status).toBe(200)
})

test('a session that the rate has room for begins, and its answer has its id', async () => {
  await using gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  const donna = await gateway.addAgent('donna')
  const begun = await post(gateway, donna, initialize())
  expect(begun.body.result.instructions).toContain('You are @donna.')
  expect(begun.headers.get('mcp-session-id')).toMatch(/^[\w-]{43}$/)
})
