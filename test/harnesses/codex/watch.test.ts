import { expect, test } from 'vitest'
import type { HarnessSession } from '../../../src/bridge/adapter.ts'
import { CodexAccess } from '../../../src/harnesses/codex/adapter/access.ts'
import { codexSettings } from '../../../src/harnesses/codex/adapter/settings.ts'
import { watchCodex } from '../../../src/harnesses/codex/adapter/watch.ts'
import { atTestEnd } from '../../support/ends.ts'
import { until } from '../../support/until.ts'
import { FakeCodex } from './fake-codex.ts'

function startWatch(codex: FakeCodex) {
  const reported: HarnessSession[] = []
  const stopping = new AbortController()
  const access = new CodexAccess(codexSettings({ env: {}, settings: { homes: [codex.home] } }), {})
  const directories = [codex.project]
  const ended = watchCodex(access, { directories }, (session) => reported.push(session), stopping.signal, 20)
  atTestEnd(async () => {
    stopping.abort()
    await ended
  })
  const lastOf = (id: string) => reported.findLast(({ conversationId }) => conversationId === id)
  return {
    reported,
    is: (id: string, state: string) =>
      until(
        () => lastOf(id),
        (session) => session?.state === state,
      ),
  }
}

test('each change of a state is reported, without a subscription', async () => {
  const codex = FakeCodex.start()
  const server = await codex.listen()
  const thread = codex.addThread()
  server.load(thread)
  const { is } = startWatch(codex)
  await is(thread.id, 'idle')
  thread.answers = false
  thread.prompt('work')
  await is(thread.id, 'active')
  thread.ask()
  await is(thread.id, 'waitingOnApproval')
  server.unload(thread)
  expect((await is(thread.id, 'unknown'))!.route).toBeUndefined()
  expect(codex.count('thread/resume')).toBe(0)
})

test('a conversation that begins is reported, and can be woken after its first prompt', async () => {
  const codex = FakeCodex.start()
  const server = await codex.listen()
  const { reported, is } = startWatch(codex)
  await until(
    () => codex.count('thread/loaded/list'),
    (count) => count > 0,
  )
  const thread = codex.addThread({ preview: '' })
  server.load(thread)
  expect((await is(thread.id, 'idle'))!.route).toBeUndefined()
  thread.prompt('hello')
  await until(
    () => reported.at(-1)!,
    ({ state, route }) => state === 'idle' && route === 'app-server',
  )
})

test('a server that comes back is found again', async () => {
  const codex = FakeCodex.start()
  const first = await codex.listen()
  const thread = codex.addThread()
  first.load(thread)
  const { is } = startWatch(codex)
  await is(thread.id, 'idle')
  codex.kill(first)
  await is(thread.id, 'unknown')
  const second = await codex.listen()
  second.load(thread)
  await is(thread.id, 'idle')
})
