import { expect, test } from 'vitest'
import type { Asked } from '../../../src/bridge/adapter.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { atTestEnd } from '../../support/ends.ts'
import { until } from '../../support/until.ts'
import { makeAdapter } from './bench.ts'
import { startFakeOpencode } from './fake-opencode.ts'

const command = {
  permission: 'bash',
  patterns: ['touch é'],
  metadata: { command: 'touch é' },
  always: ['touch *'],
}
const questions = [
  { question: 'Which store?', header: 'Store', options: [{ label: 'SQLite', description: 'a file' }] },
  { question: 'Which colours?', options: [{ label: 'red' }, { label: 'blue' }], multiple: true },
]

/** An OpenCode with a conversation whose turn runs, and what the adapter notes of its requests. */
async function openDesk() {
  const directory = dataDirectory()
  const fake = await startFakeOpencode({ directory: directory.path })
  fake.holdsTurns = true
  fake.addSession('ses_1')
  fake.type('ses_1', 'work')
  const adapter = makeAdapter(directory.path, { settings: { port: fake.port } })
  const asked: Asked[] = []
  adapter.onAsked!((one) => void asked.push(one))
  const stopping = new AbortController()
  const watching = adapter.watch!(() => {}, stopping.signal)
  const stop = async () => {
    stopping.abort()
    await watching
  }
  atTestEnd(async () => {
    await stop()
    await fake[Symbol.asyncDispose]()
    directory[Symbol.dispose]()
  })
  await until(
    () => fake.requests.filter((one) => one === 'GET /question').length,
    (count) => count > 0,
  )
  const next = async (count: number): Promise<Asked> =>
    (await until(
      () => asked[count],
      (one) => one !== undefined,
    ))!
  return { fake, asked, stop, next }
}

test.each([
  ['allowed', { answer: 'once' }, { reply: 'once' }],
  ['refused with a sentence', { answer: 'deny', message: 'Not now.' }, { reply: 'reject', message: 'Not now.' }],
  ['refused', { answer: 'deny' }, { reply: 'reject' }],
] as const)('an approval is %s', async (_case, decision, body) => {
  const { fake, next } = await openDesk()
  fake.ask('ses_1', command)
  const asked = await next(0)
  expect(asked).toMatchObject({
    conversationId: 'ses_1',
    kind: 'permission',
    tool: 'bash',
    input: { command: 'touch é', patterns: ['touch é'] },
  })
  expect(await asked.answer(decision)).toBe('taken')
  expect(fake.replies).toEqual([{ route: 'POST /permission/ID/reply', body }])
})

const mcp = { permission: 'issues_close', patterns: ['*'], metadata: {}, always: ['*'] }

test('the approval of a tool shows what the tool is given, once that is stored', async () => {
  const { fake, next } = await openDesk()
  const { tool, run } = fake.callTool('ses_1', { issue: 7, reason: 'done' })
  fake.ask('ses_1', { ...mcp, tool })
  const reads = (count: number) =>
    until(
      () => fake.requests.filter((one) => one === `GET /session/ses_1/message/${tool.messageID}`).length,
      (times) => times >= count,
    )
  await reads(2)
  run()
  expect(await next(0)).toMatchObject({
    kind: 'permission',
    tool: 'issues_close',
    input: { patterns: ['*'], issue: 7, reason: 'done' },
  })
})

test('what a tool is given stands above what is said about it', async () => {
  const { fake, next } = await openDesk()
  const { tool, run } = fake.callTool('ses_1', { command: 'touch é; rm b' })
  run()
  fake.ask('ses_1', { ...command, tool })
  expect((await next(0)).input).toEqual({ command: 'touch é; rm b', patterns: ['touch é'] })
})

test('an approval whose input cannot be read is for the terminal alone', async () => {
  const { fake, asked, next } = await openDesk()
  const { tool } = fake.callTool('ses_1', {})
  fake.ask('ses_1', mcp)
  fake.ask('ses_1', { ...mcp, tool: { ...tool, callID: 'another' } })
  fake.ask('ses_1', { ...mcp, tool: { ...tool, messageID: 'msg_another' } })
  fake.ask('ses_1', { ...mcp, tool })
  fake.askQuestions('ses_1', questions)
  expect(await next(0)).toMatchObject({ kind: 'question' })
  expect(asked).toHaveLength(1)
})

test('questions are answered: one list for each, and several labels where several may be chosen', async () => {
  const { fake, next } = await openDesk()
  fake.askQuestions('ses_1', questions)
  const asked = await next(0)
  expect(asked).toMatchObject({
    kind: 'question',
    input: { questions: [{ question: 'Which store?', multiSelect: false }, { multiSelect: true }] },
  })
  const answers = { 'Which store?': 'a, b', 'Which colours?': 'red, blue' }
  expect(await asked.answer({ answer: 'answer', answers })).toBe('taken')
  expect(fake.replies).toEqual([{ route: 'POST /question/ID/reply', body: { answers: [['a, b'], ['red', 'blue']] } }])
})

test('a question is refused', async () => {
  const { fake, next } = await openDesk()
  fake.askQuestions('ses_1', questions)
  expect(await (await next(0)).answer({ answer: 'deny' })).toBe('taken')
  expect(fake.replies).toEqual([{ route: 'POST /question/ID/reject', body: {} }])
})

test('the terminal answers first: the request ends, and another answer is late', async () => {
  const { fake, next } = await openDesk()
  const id = fake.ask('ses_1', command)
  const asked = await next(0)
  fake.reply(id, 'once')
  await until(
    () => asked.ended.aborted,
    (isEnded) => isEnded,
  )
  expect(asked.ended.reason).toBe('answered_there')
  expect(await asked.answer({ answer: 'deny' })).toBe('late')
  expect(fake.replies).toEqual([])
})

test('an answer that crosses another one, and a second one, are late', async () => {
  const { fake, next } = await openDesk()
  const id = fake.ask('ses_1', command)
  const asked = await next(0)
  fake.sendsEvents = false
  fake.reply(id, 'once')
  expect(await asked.answer({ answer: 'once' })).toBe('late')
  fake.sendsEvents = true
  fake.ask('ses_1', command)
  const second = await next(1)
  expect(await second.answer({ answer: 'once' })).toBe('taken')
  expect(await second.answer({ answer: 'once' })).toBe('late')
  expect(fake.replies).toHaveLength(1)
})

test('what was asked while the events were away is found, and a subagent asks in the conversation that it works for', async () => {
  const { fake, next } = await openDesk()
  fake.addSession('ses_2', { parentID: 'ses_1' })
  fake.sendsEvents = false
  fake.ask('ses_2', command)
  fake.sendsEvents = true
  fake.dropEvents()
  expect(await next(0)).toMatchObject({ conversationId: 'ses_1' })
})

test('a bridge that stops takes back what waits', async () => {
  const { fake, next, stop } = await openDesk()
  fake.ask('ses_1', command)
  const asked = await next(0)
  await stop()
  expect(asked.ended.reason).toBe('withdrawn')
  expect(await asked.answer({ answer: 'once' })).toBe('late')
  expect(fake.replies).toEqual([])
})
