import { expect, test } from 'vitest'
import { handOver, startAdapter } from './bridge.ts'
import { FakeCodex } from './fake-codex.ts'

const garbage: readonly [string, (method: string, answer: object) => unknown][] = [
  ['other types', () => ({ data: 7, thread: 'x', deleted: 'no' })],
  ['no result', () => null],
  [
    'turns of another wake',
    (method, answer) =>
      method === 'thread/turns/list'
        ? { data: [{ id: 't', status: 'completed', items: [{ type: 'userMessage', clientId: 'rouse-other' }] }] }
        : answer,
  ],
]

test.each(garbage)('a Codex that answers %s proves no turn, and the adapter goes on', async (_what, lies) => {
  const codex = FakeCodex.start()
  const server = await codex.listen()
  const thread = codex.addThread()
  server.load(thread)
  thread.answers = false
  thread.prompt('work')
  const settings = { homes: [codex.home], program: codex.program }
  const { adapter } = startAdapter({ directories: [codex.project], settings })
  codex.faults.lies = (method, answer) => (method === 'initialize' ? answer : lies(method, answer))
  const lied = handOver(adapter, thread.id)
  setTimeout(lied.stop, 2_000)
  const step = await lied.ended.then((end) => end.step).catch(() => 'rejected')
  expect(['held', 'failed', 'unknown', 'misaddressed', 'rejected']).toContain(step)
  expect(thread.turns).toHaveLength(1)
  delete codex.faults.lies
  thread.answers = true
  expect((await adapter.probe(new AbortController().signal)).sessions).toHaveLength(1)
})
