import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'

test('a session that starts, is preempted and ends is one line each, with ids', async () => {
  const { log, lines } = logLines('info')
  await using gateway = await startGateway({ overrides: { log } })
  const donna = await gateway.addAgent('donna')
  const start = async (pid: number, startedAt: string) => {
    const input = { surface: 'claude_code', pid, startedAt }
    const { status, body } = await gateway.call('POST', '/v1/sessions', input, { key: donna.key })
    expect(status, JSON.stringify(body)).toBeLessThan(300)
    return body.sessionId as string
  }
  const first = await start(1, '2026-04-26T10:00:00Z')
  const second = await start(2, '2026-04-26T10:00:01Z')
  await start(2, '2026-04-26T10:00:01Z')
  await gateway.call('DELETE', `/v1/sessions/${second}`, undefined, { key: donna.key })
  const about = { agent: '@donna', project: 'default', surface: 'claude_code' }
  expect(lines.filter(({ event }) => event.startsWith('session.'))).toEqual([
    { level: 'info', event: 'session.started', sessionId: first, ...about },
    { level: 'info', event: 'session.preempted', sessionId: first, ...about, reason: 'preempted', successorId: second },
    { level: 'info', event: 'session.started', sessionId: second, ...about },
    { level: 'info', event: 'session.ended', sessionId: second, ...about, reason: 'ended' },
  ])
})
