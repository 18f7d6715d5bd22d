import { expect, test } from 'vitest'
import { labelOf } from '../../../src/harnesses/codex/adapter/wake/seen.ts'
import { makeWake, sessionOf, startAdapter } from './bridge.ts'
import { FakeCodex } from './fake-codex.ts'

async function openOffice() {
  const codex = FakeCodex.start()
  const server = await codex.listen()
  const thread = codex.addThread()
  const settings = { homes: [codex.home], program: codex.program }
  const { adapter } = startAdapter({ directories: [codex.project], settings })
  const wake = makeWake()
  const label = labelOf(wake.id)
  return {
    codex,
    server,
    thread,
    wake,
    label,
    takeBack: () => adapter.takeBack(sessionOf(thread.id), wake.id),
    find: () => adapter.find(sessionOf(thread.id), wake.id, new AbortController().signal),
  }
}

test('what was never there is absent', async () => {
  const { server, thread, find } = await openOffice()
  server.load(thread)
  expect(await find()).toBe('absent')
})

test('what is in the queue of an open conversation waits', async () => {
  const { server, thread, label, find } = await openOffice()
  server.load(thread)
  thread.answers = false
  thread.prompt('work')
  thread.enqueue('x', label)
  expect(await find()).toBe('waits')
  thread.finish()
  expect(await find()).toBe('turn_started')
})

test('what is in a turn of another process has begun, also while it runs', async () => {
  const { codex, thread, label, find } = await openOffice()
  codex.openTerminal(thread)
  thread.answers = false
  thread.enqueue('x', label)
  thread.drain()
  expect(await find()).toBe('turn_started')
})

test('what is in the queue of a closed conversation is taken back: it would run days later', async () => {
  const { thread, label, find } = await openOffice()
  thread.enqueue('x', label)
  expect(await find()).toBe('absent')
  expect(thread.queue).toEqual([])
})

test('a conversation that is not there says nothing', async () => {
  const { codex, find } = await openOffice()
  codex.threads.splice(0)
  expect(await find()).toBe('unknown')
})

test('what waits in the queue of an open conversation can be taken back, once', async () => {
  const { server, thread, label, find, takeBack } = await openOffice()
  server.load(thread)
  thread.answers = false
  thread.prompt('work')
  thread.enqueue('x', label)
  thread.enqueue('of its user', 'another')
  expect([await takeBack(), await takeBack()]).toEqual([true, false])
  expect(thread.queue).toHaveLength(1)
  expect(await find()).toBe('absent')
})
