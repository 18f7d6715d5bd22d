import { expect, test } from 'vitest'
import type { ReportedConversation } from '../../../src/bridge/local/clients.ts'
import { until } from '../../support/until.ts'
import { handOver, startAdapter, untilQueued } from './bridge.ts'
import { FakeCodex } from './fake-codex.ts'
import type { FakeThread } from './fake-thread.ts'

function openOffice(settings: object = {}) {
  const codex = FakeCodex.start()
  const thread = codex.addThread()
  const options = { homes: [codex.home], program: codex.program, ...settings }
  return { codex, thread, ...startAdapter({ directories: [codex.project], settings: options }) }
}

function asks({ id, cwd }: FakeThread, over: Partial<ReportedConversation> = {}): ReportedConversation {
  return {
    harness: 'codex',
    conversationId: id,
    cwd,
    process: { pid: process.pid },
    event: 'PermissionRequest',
    state: 'waitingOnApproval',
    at: 0,
    ...over,
  }
}

test('a terminal without a server is woken through the queue in its home', async () => {
  const { codex, thread, adapter } = openOffice()
  codex.openTerminal(thread)
  const { ended, routes, wake } = handOver(adapter, thread.id)
  expect(await ended).toMatchObject({ step: 'turn_started' })
  expect(routes).toEqual(['queue'])
  expect(thread.texts).toEqual([wake.text])
  await until(
    () => codex.children.size,
    (running) => running === 0,
  )
})

test('a terminal that is busy for long: the wake stays in its queue, and no process of ours waits', async () => {
  const { codex, thread, adapter } = openOffice()
  codex.openTerminal(thread)
  thread.answers = false
  thread.prompt('work')
  const { ended, reports } = handOver(adapter, thread.id)
  await until(
    () => reports.at(-1),
    (report) => /^held: in the queue/.test(report ?? ''),
  )
  await until(
    () => codex.children.size,
    (running) => running === 0,
  )
  thread.answers = true
  thread.finish()
  expect(await ended).toMatchObject({ step: 'turn_started' })
  expect(thread.turns).toHaveLength(2)
})

test('the hook at the start of the turn proves it before a look does', async () => {
  const { codex, thread, adapter, hookSays } = openOffice()
  codex.openTerminal(thread, 1_000_000)
  const { ended, wake } = handOver(adapter, thread.id)
  await untilQueued(thread)
  thread.drain()
  hookSays({
    wakeId: wake.id,
    step: 'turn_started',
    proof: 'UserPromptSubmit',
    conversationId: thread.id,
    turnId: 't7',
  })
  expect(await ended).toMatchObject({ step: 'turn_started' })
})

test('a terminal whose hook says that it asks its user gets nothing until the hook says something else', async () => {
  const { codex, thread, adapter, hooked } = openOffice()
  codex.openTerminal(thread)
  thread.answers = false
  const { id: activeTurnId } = thread.prompt('work')
  hooked.push(asks(thread, { activeTurnId }))
  const early = handOver(adapter, thread.id)
  expect(await early.ended).toMatchObject({ step: 'held', reason: 'waiting_on_approval' })
  expect([early.routes, thread.queue]).toEqual([[], []])
  hooked[0] = { ...asks(thread), event: 'Stop', state: 'idle' }
  thread.answers = true
  thread.finish()
  expect(await handOver(adapter, thread.id, early.wake).ended).toMatchObject({ step: 'turn_started' })
  expect(thread.texts).toEqual([early.wake.text, 'work'])
})

test('a question that comes up while the wake is in the queue: it stays there, and its sender learns why', async () => {
  const { codex, thread, adapter, hooked } = openOffice()
  codex.openTerminal(thread)
  thread.answers = false
  thread.prompt('work')
  const { ended, reports } = handOver(adapter, thread.id)
  await untilQueued(thread)
  hooked.push(asks(thread))
  await until(
    () => reports,
    (all) => all.some((report) => /^held: in the queue of Codex: the session waits for an answer/.test(report)),
  )
  thread.answers = true
  thread.finish()
  expect(await ended).toMatchObject({ step: 'turn_started' })
})

test.each([
  ['a process that was killed', () => ({ process: { pid: 1 } })],
  ['a turn that is over', (turnId: string) => ({ activeTurnId: turnId })],
  ['another conversation', () => ({ conversationId: '01990000-0000-7000-8000-000000000000' })],
])('what the hook said last of %s holds nothing back', async (_of, over) => {
  const { codex, thread, adapter, hooked } = openOffice()
  codex.openTerminal(thread)
  const { id } = thread.prompt('work')
  hooked.push(asks(thread, over(id)))
  expect(await handOver(adapter, thread.id).ended).toMatchObject({ step: 'turn_started' })
})

test('a closed conversation gets nothing', async () => {
  const { codex, thread, adapter } = openOffice()
  const { ended, routes } = handOver(adapter, thread.id)
  expect(await ended).toMatchObject({ step: 'held', detail: expect.stringContaining('closed') })
  expect(routes).toEqual([])
  expect(codex.count('thread/queue/add') + codex.count('thread/resume')).toBe(0)
})

test('a terminal that closes while a wake waits gives it back', async () => {
  const { codex, thread, adapter } = openOffice()
  const terminal = codex.openTerminal(thread)
  thread.answers = false
  thread.prompt('work')
  const { ended } = handOver(adapter, thread.id)
  await untilQueued(thread)
  codex.kill(terminal)
  expect(await ended).toMatchObject({ step: 'held', detail: expect.stringContaining('closed') })
  expect(thread.queue).toEqual([])
})

// S1-17: only with explicit authority.
test('where the user has set it, a closed conversation is opened, and let go when its turn has ended', async () => {
  const { codex, thread, adapter } = openOffice({ resumeClosed: true })
  thread.answers = false
  const { ended } = handOver(adapter, thread.id)
  expect(await ended).toMatchObject({ step: 'turn_started' })
  expect(thread.running).toBeDefined()
  thread.finish()
  await until(
    () => codex.children.size,
    (running) => running === 0,
  )
  expect(thread.turns[0]).toMatchObject({ status: 'completed' })
})

test('a turn that asks for something where nobody watches ends unanswered, and its user is notified', async () => {
  const { codex, thread, adapter, notes } = openOffice({ resumeClosed: true })
  thread.answers = false
  await handOver(adapter, thread.id).ended
  const [host] = [...codex.children]
  thread.ask()
  await until(
    () => notes,
    ({ length }) => length > 0,
  )
  expect(notes[0]).toMatch(/asked its user .* codex resume/)
  expect(host!.answersOfClients).toEqual([])
  await until(
    () => codex.children.size,
    (running) => running === 0,
  )
})

test('a closed conversation with texts of its user in the queue is not opened: they would run too', async () => {
  const { codex, thread, adapter } = openOffice({ resumeClosed: true })
  thread.enqueue('of the user', 'x')
  expect(await handOver(adapter, thread.id).ended).toMatchObject({
    step: 'held',
    detail: expect.stringContaining('other texts'),
  })
  expect(thread.queue).toHaveLength(1)
  expect(codex.count('thread/resume')).toBe(0)
})

test('a conversation that Codex does not know is misaddressed', async () => {
  const { adapter } = openOffice()
  expect(await handOver(adapter, '01990000-0000-7000-8000-000000000000').ended).toMatchObject({ step: 'misaddressed' })
})

test('without Codex a wake is held', async () => {
  const { codex, thread, adapter } = openOffice({ program: '/nowhere/codex' })
  codex.openTerminal(thread)
  expect(await handOver(adapter, thread.id).ended).toMatchObject({
    step: 'held',
    detail: expect.stringContaining('/nowhere/codex'),
  })
})
