import { expect, test } from 'vitest'
import { InFlight } from '../../../../src/fronts/mcp/http/open-parts.ts'

test('a cancellation reaches only the request that it names', () => {
  const inFlight = new InFlight()
  const open = [7, '7', 8].map((id) => inFlight.add('session', id))
  const cancelled = () => open.map(({ signal }) => signal.aborted)
  const hear = (method: string, requestId: unknown, session = 'session') =>
    inFlight.hear(session, { jsonrpc: '2.0', method, params: { requestId } as never })
  for (const requestId of [99, undefined, null, {}]) hear('notifications/cancelled', requestId)
  hear('notifications/cancelled', 7, 'another session')
  hear('notifications/progress', 7)
  expect(cancelled()).toEqual([false, false, false])
  hear('notifications/cancelled', 7)
  expect(cancelled()).toEqual([true, false, false])
  for (const one of open) one[Symbol.dispose]()
  hear('notifications/cancelled', '7')
  expect(cancelled()).toEqual([true, false, false])
})
