import { expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { handOver, startAdapter, untilQueued } from './bridge.ts'
import { FakeCodex } from './fake-codex.ts'

async function openOffice(settings: object = {}) {
  const codex = FakeCodex.start()
  const server = await codex.listen()
  const thread = codex.addThread()
  server.load(thread)
  const options = { homes: [codex.home], program: codex.program, ...settings }
  return { codex, server, thread, ...startAdapter({ directories: [codex.project], settings: options }) }
}

test('an idle conversation begins a turn with the wake, once', async () => {
  const { codex, thread, adapter } = await openOffice()
  const { ended, reports, routes, wake } = handOver(adapter, thread.id)
  expect(await ended).toMatchObject({ step: 'turn_started', detail: expect.stringContaining(thread.turns[0]!.id) })
  expect(thread.texts).toEqual([wake.text])
  expect(reports).toEqual(['written: in the queue of Codex'])
  expect(routes).toEqual(['app-server'])
  expect(codex.count('turn/start') + codex.count('turn/steer')).toBe(0)
})

test('a busy conversation keeps its turn: the wake waits in its queue, and says so once', async () => {
  const { thread, adapter } = await openOffice()
  thread.answers = false
  const running = thread.prompt('work')
  const { ended, reports } = handOver(adapter, thread.id)
  await until(
    () => reports,
    ({ length }) => length > 1,
  )
  expect(reports).toEqual(['written: in the queue of Codex', 'held: in the queue of Codex: a turn runs'])
  expect(running.items).toHaveLength(1)
  thread.finish()
  expect(await ended).toMatchObject({ step: 'turn_started' })
  expect(thread.turns).toHaveLength(2)
})

// S1-12: nothing is even queued, for a user who refuses stops the queue.
test.each(['waitingOnApproval', 'waitingOnUserInput'])('a conversation that is %s gets nothing', async (flag) => {
  const { codex, thread, server, adapter } = await openOffice()
  thread.answers = false
  thread.prompt('work')
  thread.ask(flag)
  const { ended, routes } = handOver(adapter, thread.id)
  expect(await ended).toMatchObject({ step: 'held', detail: expect.stringContaining('its user') })
  expect(routes).toEqual([])
  expect(codex.count('thread/queue/add')).toBe(0)
  expect(server.answersOfClients).toEqual([])
})

test('an approval that is requested while a wake waits is not answered; after it the wake has its turn', async () => {
  const { thread, server, adapter } = await openOffice()
  thread.answers = false
  thread.prompt('work')
  const { ended, reports } = handOver(adapter, thread.id)
  await until(
    () => reports,
    ({ length }) => length > 1,
  )
  thread.ask()
  await until(
    () => reports.at(-1),
    (report) => /answer of its user/.test(report ?? ''),
  )
  thread.approve()
  expect(await ended).toMatchObject({ step: 'turn_started' })
  expect(server.answersOfClients).toEqual([])
})

test('an interrupt stops the queue: the wake is held, and begins after the next turn of the user', async () => {
  const { codex, thread, adapter } = await openOffice()
  thread.answers = false
  thread.prompt('work')
  const { ended, reports } = handOver(adapter, thread.id)
  await untilQueued(thread)
  thread.interrupt()
  await until(
    () => reports.at(-1),
    (report) => /interrupt stopped the queue/.test(report ?? ''),
  )
  expect(codex.count('thread/queue/start')).toBe(0)
  thread.answers = true
  thread.prompt('go on')
  expect(await ended).toMatchObject({ step: 'turn_started' })
  expect(thread.turns).toHaveLength(3)
})

test('a bridge that stops takes back what has not begun', async () => {
  const { thread, adapter } = await openOffice()
  thread.answers = false
  thread.prompt('work')
  const { ended, stop } = handOver(adapter, thread.id)
  await untilQueued(thread)
  stop()
  expect(await ended).toMatchObject({ step: 'held', detail: 'taken back from the queue of Codex' })
  expect(thread.queue).toEqual([])
})

test('a wake that the user removes from the queue is not sent again', async () => {
  const { codex, thread, adapter } = await openOffice()
  thread.answers = false
  thread.prompt('work')
  const { ended } = handOver(adapter, thread.id)
  await untilQueued(thread)
  thread.queue.splice(0)
  expect(await ended).toMatchObject({ step: 'unknown' })
  expect(codex.count('thread/queue/add')).toBe(1)
})

test('a conversation that is closed while a wake waits gives it back', async () => {
  const { codex, server, thread, adapter } = await openOffice()
  thread.answers = false
  thread.prompt('work')
  const { ended } = handOver(adapter, thread.id)
  await untilQueued(thread)
  server.unload(thread)
  expect(await ended).toMatchObject({ step: 'held', detail: expect.stringContaining('closed') })
  expect(thread.queue).toEqual([])
  // A subscriber keeps a conversation loaded that its user has closed.
  expect(codex.count('thread/resume')).toBe(0)
})

test.each(['dies with it in the queue', 'is killed later'])('a server that %s: at most one turn', async (when) => {
  const { codex, server, thread, adapter } = await openOffice()
  if (when === 'is killed later') {
    thread.answers = false
    thread.prompt('work')
  } else codex.faults.diesAfter = 'thread/queue/add'
  const { ended, wake } = handOver(adapter, thread.id)
  if (when === 'is killed later') {
    await untilQueued(thread)
    codex.kill(server)
  }
  expect(await ended).toMatchObject({ step: 'held', detail: expect.stringContaining('closed') })
  expect(codex.count('thread/queue/add')).toBe(1)
  expect(thread.texts).not.toContain(wake.text)
  expect(thread.queue).toEqual([])
})

test('a server that comes back with the conversation has the wake still, and runs it once', async () => {
  const { codex, server, thread, adapter } = await openOffice()
  thread.answers = false
  thread.prompt('work')
  const { ended, wake } = handOver(adapter, thread.id)
  await untilQueued(thread)
  // Somebody opens it in a terminal at the moment at which the server dies.
  codex.kill(server)
  thread.answers = true
  codex.openTerminal(thread)
  expect(await ended).toMatchObject({ step: 'turn_started' })
  expect(thread.texts.filter((text) => text === wake.text)).toHaveLength(1)
  expect(codex.count('thread/queue/add')).toBe(1)
})

test('a conversation that is deleted with a wake in its queue does not keep the others waiting', async () => {
  const { codex, server, thread, adapter } = await openOffice()
  thread.answers = false
  thread.prompt('work')
  const { ended } = handOver(adapter, thread.id)
  await untilQueued(thread)
  codex.threads.splice(0)
  codex.kill(server)
  expect(await ended).toMatchObject({ step: 'unknown', detail: expect.stringContaining('cannot be asked') })
})

test('an answer that never comes is not a reason to send it twice', async () => {
  const { codex, thread, adapter } = await openOffice()
  const waits = handOver(adapter, thread.id)
  await waits.ended
  const again = handOver(adapter, thread.id, waits.wake)
  expect(await again.ended).toMatchObject({ step: 'turn_started' })
  expect(again.routes).toEqual([])
  expect(codex.count('thread/queue/add')).toBe(1)
})

test('a server that has too much to do gets the request again', async () => {
  const { codex, thread, adapter } = await openOffice()
  codex.faults.overloaded = 2
  expect(await handOver(adapter, thread.id).ended).toMatchObject({ step: 'turn_started' })
})

test('a Codex without a queue says what mends it', async () => {
  const { codex, thread, adapter } = await openOffice()
  codex.faults.isOld = true
  expect(await handOver(adapter, thread.id).ended).toMatchObject({
    step: 'failed',
    detail: expect.stringContaining('update'),
  })
})

test('a conversation without a prompt has nothing to queue for', async () => {
  const { codex, server, adapter } = await openOffice()
  const fresh = codex.addThread({ preview: '' })
  server.load(fresh)
  expect(await handOver(adapter, fresh.id).ended).toMatchObject({
    step: 'held',
    detail: expect.stringContaining('no prompt yet'),
  })
})

test('a conversation in another directory is not reached', async () => {
  const { codex, server, adapter } = await openOffice()
  const other = codex.addThread({ cwd: `${codex.project}-not` })
  server.load(other)
  const { ended, routes } = handOver(adapter, other.id)
  expect(await ended).toMatchObject({ step: 'misaddressed' })
  expect(routes).toEqual([])
})

test('where the user has set it, a wake joins the turn that runs', async () => {
  const { thread, adapter } = await openOffice({ steer: true })
  thread.answers = false
  const running = thread.prompt('work')
  expect(await handOver(adapter, thread.id).ended).toMatchObject({ step: 'delivered' })
  expect(running.items).toHaveLength(2)
  expect(thread.queue).toEqual([])
})

test('a wake that an idle conversation gets is queued also there', async () => {
  const { codex, thread, adapter } = await openOffice({ steer: true })
  expect(await handOver(adapter, thread.id).ended).toMatchObject({ step: 'turn_started' })
  expect(codex.count('turn/steer')).toBe(0)
})
