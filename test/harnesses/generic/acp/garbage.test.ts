import { expect, test } from 'vitest'
import { AcpTraffic } from '../../../../src/harnesses/generic/acp/traffic.ts'
import { aWake } from '../../adapter-tools.ts'

/** The proxy between an editor and an agent of version 1, with one idle session. */
function openSession() {
  const proved: string[] = []
  const toEditor: string[] = []
  const traffic = new AcpTraffic({
    toAgent: () => {},
    toEditor: (line) => void toEditor.push(String(line)),
    changed: () => {},
    ended: () => {},
    proved: (_session, _wakeId, step) => void proved.push(step),
  })
  const line = (message: object) => Buffer.from(`${JSON.stringify(message)}\n`)
  traffic.fromEditor(line({ id: 1, method: 'session/new', params: { cwd: '/app' } }))
  traffic.fromAgent(line({ id: 1, result: { sessionId: 's1' } }))
  return { traffic, proved, toEditor, line }
}

test.each([
  ['no result and no error', (id: string) => ({ id })],
  ['an error that is a text', (id: string) => ({ id, error: 'no' })],
  ['a result that is a text', (id: string) => ({ id, result: 'done' })],
  ['a result without its reason', (id: string) => ({ id, result: {} })],
  ['a reason that is a list', (id: string) => ({ id, result: { stopReason: ['end_turn'] } })],
])('an agent that answers a wake with %s proves no turn, and the session goes on', (_what, answer) => {
  const { traffic, proved, line } = openSession()
  const wake = aWake()
  expect(traffic.wake('s1', wake)).toBeUndefined()
  traffic.fromAgent(line(answer(`rouse:${wake.id}`)))
  expect(proved).toEqual(['unknown'])
  expect(traffic.sessions.get('s1')?.state).toBe('idle')
  expect(traffic.wake('s1', aWake())).toBeUndefined()
})

test.each([
  ['no JSON', '{"id":'],
  ['a list', '[1,2]'],
  ['ten megabytes', `"${'x'.repeat(10_000_000)}"`],
  [
    'an answer to a wake that never was',
    '{"id":"rouse:01KABCDEFGHJKMNPQRSTVWXY00","result":{"stopReason":"end_turn"}}',
  ],
  ['an answer to nobody', '{"id":99,"result":{"sessionId":7}}'],
  [
    'news of another session',
    '{"method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"plan"}}}',
  ],
  ['news of no form', '{"method":"session/update","params":{"sessionId":"s1","update":[{"sessionUpdate":"plan"}]}}'],
])('an agent that says %s proves nothing of a wake', (_what, text) => {
  const { traffic, proved } = openSession()
  traffic.wake('s1', aWake())
  traffic.fromAgent(Buffer.from(`${text}\n`))
  expect(proved).toEqual([])
  expect(traffic.sessions.get('s1')?.state).toBe('active')
})

test('an agent that asks without end takes no more memory', () => {
  const { traffic, line } = openSession()
  for (let id = 0; id < 12_000; id++) {
    traffic.fromAgent(line({ id, method: 'session/request_permission', params: { sessionId: 's1' } }))
  }
  expect(traffic.sessions.get('s1')?.questions.size).toBe(10_000)
})
