import { expect, test } from 'vitest'
import { InFlight } from '../../../../src/fronts/mcp/http/in-flight.ts'

test('a cancellation reaches only the request that it names, with nothing but its id and a short reason', () => {
  const inFlight = new InFlight()
  const heard: unknown[] = []
  const ids = [7, '7', 8, undefined]
  const open = ids.map((id) =>
    inFlight.add('session', { id, notify: (notification) => heard.push([id, notification]) }),
  )
  const more = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index]))
  const cancel = (requestId: unknown, session = 'session') =>
    inFlight.notify(session, {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason: 'r'.repeat(1_000), ...more } as never,
    })
  for (const requestId of [99, undefined, null, {}]) cancel(requestId)
  cancel(7, 'another session')
  inFlight.notify('session', { jsonrpc: '2.0', method: 'notifications/progress', params: { requestId: 7 } as never })
  expect(heard).toEqual([])
  cancel(7)
  const params = { requestId: 7, reason: 'r'.repeat(200) }
  expect(heard).toEqual([[7, { jsonrpc: '2.0', method: 'notifications/cancelled', params }]])
  for (const one of open) one[Symbol.dispose]()
  cancel('7')
  expect(heard).toHaveLength(1)
})
