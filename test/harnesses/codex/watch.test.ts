import { expect, test } from 'vitest'
import type { HarnessSession, UsageLimit } from '../../../src/bridge/adapter.ts'
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
  const limits: (UsageLimit & { readonly at: string })[] = []
  const notes = {
    session: (session: HarnessSession) => void reported.push(session),
    limit: (limit: UsageLimit, at: string) => void limits.push({ ...limit, at }),
    asked: () => undefined,
  }
  const ended = watchCodex(access, { directories, now: Date.now }, notes, stopping.signal, 20)
  atTestEnd(async () => {
    stopping.abort()
    await ended
  })
  const lastOf = (id: string) => reported.findLast(({ conversationId }) => conversationId === id)
  return {
    reported,
    limits,
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

// D50
test('a turn that fails at a limit is reported with the reset that the account names, without a subscription', async () => {
  const codex = FakeCodex.start()
  const server = await codex.listen()
  const thread = codex.addThread()
  server.load(thread)
  const { limits, is } = startWatch(codex)
  await is(thread.id, 'idle')
  const resetsAt = Math.floor(Date.now() / 1_000) + 7_200
  codex.rateLimits = { limitId: 'codex', primary: { usedPercent: 100, windowDurationMins: 300, resetsAt } }
  thread.answers = false
  thread.prompt('work')
  await is(thread.id, 'active')
  thread.fail({ message: "You've hit your usage limit. Try again later.", codexErrorInfo: 'usageLimitExceeded' })
  await until(
    () => limits,
    (all) => all.length > 0,
  )
  expect(limits).toEqual([
    {
      at: thread.id,
      reason: 'usage-limit',
      until: resetsAt * 1_000,
      detail: "You've hit your usage limit. Try again later.",
    },
  ])
  expect(codex.count('thread/resume')).toBe(0)
})

test('a turn that fails for another reason, and one in a directory that is not allowed, report no limit', async () => {
  const codex = FakeCodex.start()
  const server = await codex.listen()
  const [own, foreign] = [codex.addThread(), codex.addThread({ cwd: '/somewhere/else' })]
  for (const thread of [own, foreign]) server.load(thread)
  const { limits, is } = startWatch(codex)
  await is(own.id, 'idle')
  for (const thread of [foreign, own]) {
    thread.answers = false
    thread.prompt('work')
  }
  await is(own.id, 'active')
  foreign.fail({ message: "You've hit your usage limit. Try again later.", codexErrorInfo: 'usageLimitExceeded' })
  own.fail({ message: 'stream disconnected before completion', codexErrorInfo: 'other' })
  await is(own.id, 'idle')
  await until(
    () => codex.count('thread/turns/list'),
    (count) => count > 0,
  )
  expect(limits).toEqual([])
})
