import { expect, test } from 'vitest'
import type { Asked, HarnessSession } from '../../../src/bridge/adapter.ts'
import { CodexAccess } from '../../../src/harnesses/codex/adapter/access.ts'
import { codexSettings } from '../../../src/harnesses/codex/adapter/settings.ts'
import { watchCodex } from '../../../src/harnesses/codex/adapter/watch.ts'
import { atTestEnd } from '../../support/ends.ts'
import { until } from '../../support/until.ts'
import { FakeCodex } from './fake-codex.ts'

const request = {
  kind: 'command',
  command: "/bin/bash -lc 'touch é'",
  commandActions: [{ type: 'unknown', command: 'touch é' }],
  cwd: '/home/u/p',
  reason: 'to try it',
}

/** A server with a conversation whose turn runs, and what the adapter notes of its requests. */
async function openDesk() {
  const codex = FakeCodex.start()
  const server = await codex.listen()
  const thread = codex.addThread()
  server.load(thread)
  thread.answers = false
  thread.prompt('work')
  const asked: Asked[] = []
  const states: string[] = []
  const stopping = new AbortController()
  const access = new CodexAccess(codexSettings({ env: {}, settings: { homes: [codex.home] } }), {})
  const notes = {
    session: ({ state }: HarnessSession) => void states.push(state),
    limit: () => {},
    asked: () => (one: Asked) => void asked.push(one),
  }
  const ended = watchCodex(access, { directories: [codex.project], now: Date.now }, notes, stopping.signal, 20)
  const stop = async () => {
    stopping.abort()
    await ended
  }
  atTestEnd(stop)
  await until(
    () => states.at(-1),
    (state) => state === 'active',
  )
  const isSubscribed = () => [...server.clients].some(({ threads }) => threads.has(thread.id))
  return {
    codex,
    server,
    thread,
    asked,
    stop,
    isSubscribed,
    ask: async (more: object = {}): Promise<Asked> => {
      const count = asked.length
      thread.askFor({ ...request, ...more })
      return (await until(
        () => asked[count],
        (one) => one !== undefined,
      ))!
    },
  }
}

test('a command is asked with all that Codex shows of it, and the answer is given to it', async () => {
  const desk = await openDesk()
  expect(desk.isSubscribed()).toBe(false)
  const asked = await desk.ask()
  expect(asked).toMatchObject({
    conversationId: desk.thread.id,
    kind: 'permission',
    tool: 'shell',
    input: { command: request.command, bareCommand: 'touch é' },
    cwd: '/home/u/p',
    reason: 'to try it',
  })
  expect(await asked.answer({ answer: 'once' })).toBe('taken')
  expect(desk.thread.decisions).toEqual(['accept'])
  // A subscription would keep the conversation loaded.
  await until(desk.isSubscribed, (is) => !is)
})

test('a refusal does not end the turn, and its sentence is put into it', async () => {
  const { thread, ask } = await openDesk()
  const asked = await ask()
  expect(await asked.answer({ answer: 'deny', message: 'Not now.' })).toBe('taken')
  expect(thread.decisions).toEqual(['decline'])
  expect(thread.texts).toContain('Not now.')
})

test.each([
  ['accept', { answer: 'deny' }],
  ['decline', { answer: 'once' }],
] as const)('the terminal answers %s first: the other answer is late, and nothing is sent', async (there, decision) => {
  const { thread, server, ask } = await openDesk()
  const asked = await ask()
  thread.answer(0, there)
  await until(
    () => asked.ended.aborted,
    (isEnded) => isEnded,
  )
  expect(asked.ended.reason).toBe('answered_there')
  expect(await asked.answer(decision)).toBe('late')
  expect(thread.decisions).toEqual([there])
  expect(server.answersOfClients).toEqual([])
})

test('both at once: the end of the command says which one counted', async () => {
  const { thread, ask } = await openDesk()
  const asked = await ask()
  const answering = asked.answer({ answer: 'deny' })
  // On its way when ours is sent.
  thread.answer(0, 'accept')
  expect(await answering).toBe('late')
  expect(thread.decisions).toEqual(['accept'])
})

test('an answer is given once', async () => {
  const { thread, server, ask } = await openDesk()
  const asked = await ask()
  expect(await asked.answer({ answer: 'once' })).toBe('taken')
  expect(await asked.answer({ answer: 'once' })).toBe('late')
  expect(thread.decisions).toEqual(['accept'])
  expect(server.answersOfClients).toHaveLength(1)
})

test('a server that is gone takes its requests with it: no answer reaches another connection by their number', async () => {
  const { codex, server, thread, asked, ask } = await openDesk()
  const first = await ask()
  codex.kill(server)
  await until(
    () => first.ended.aborted,
    (isEnded) => isEnded,
  )
  expect(first.ended.reason).toBe('withdrawn')
  const second = await codex.listen()
  second.load(thread)
  thread.prompt('more')
  thread.askFor(request)
  await until(
    () => asked,
    ({ length }) => length === 2,
  )
  expect(asked[1]!.nonce).not.toBe(first.nonce)
  expect(await first.answer({ answer: 'once' })).toBe('late')
  expect(thread.decisions).toEqual([])
  expect(await asked[1]!.answer({ answer: 'once' })).toBe('taken')
})

test.each([
  ['input to a program that runs', { kind: 'writeStdin' }],
  ['a request without its command', { command: null }],
])('is left to the terminal: %s', async (_case, more) => {
  const { thread, asked, isSubscribed, server } = await openDesk()
  thread.askFor({ ...request, ...more })
  await until(isSubscribed, Boolean)
  thread.answer(0, 'accept')
  await until(isSubscribed, (is) => !is)
  expect(asked).toEqual([])
  expect(server.answersOfClients).toEqual([])
})
