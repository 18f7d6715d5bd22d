import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { type MailAgent, type ReceivedSignal, spawnMailAgent } from '../support/spawn-mail-agent.ts'
import { onPostgres } from '../support/store.ts'
import { until } from '../support/until.ts'

// S2-1, played once: a gateway and every agent in a process of its own, nothing between them but HTTP. Lola's surface cannot be
// wakes, Donna's does; Mike has no session at first. The test gives input only to Lola, in the place of Frank.
interface Story {
  readonly gateway: ProcessGateway
  readonly lola: MailAgent
  readonly donna: MailAgent
  readonly mike: MailAgent
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly sent: Record<string, any>
  readonly donnaAgain: MailAgent
  readonly mikeAgain: MailAgent
}

let story: Story
const open: AsyncDisposable[] = []
const spec = { spec_id: 'SPEC-033', instructions: 'Summarize SPEC-033, review it. Reply via signal when complete.' }

beforeAll(async () => {
  story = await play()
})

afterAll(async () => {
  for (const one of open.reverse()) await one[Symbol.asyncDispose]()
})

async function play(): Promise<Story> {
  const kept = <T extends AsyncDisposable>(one: T): T => {
    open.push(one)
    return one
  }
  const gateway = kept(await startProcessGateway())
  const keys = {
    lola: await gateway.addAgent('@lola'),
    donna: await gateway.addAgent('@donna'),
    mike: await gateway.addAgent('@mike'),
  }
  const lola = kept(await spawnMailAgent(gateway, keys.lola, { surface: 'claude_desktop' }))
  const donna = kept(await spawnMailAgent(gateway, keys.donna, { surface: 'claude_code', isWoken: true }))
  const sent: Story['sent'] = {}
  const send = async (name: string, mail: object) => {
    sent[name] = { at: Date.now(), ...(await lola.call('POST', '/v1/messages', mail)) }
  }

  await send('request', { to: 'Donna', signalType: 'ReviewRequested', payload: spec })
  await donna.waitFor('ReviewRequested')
  const [, review] = await until(
    async () => (await gateway.call('GET', `/v1/threads/${sent.request.body.threadId}`)).body.messages,
    // Lola may have got it with the answer to her request already, and have thanked for it.
    (messages) => messages.length >= 2,
  )
  sent.review = review
  await lola.call('GET', '/v1/tasks')
  await donna.waitFor('Acknowledgment')
  sent.thread = (await lola.call('GET', `/v1/threads/${sent.request.body.threadId}`)).body.messages

  await send('offline', {
    to: '@mike',
    signalType: 'TaskAssigned',
    payload: { description: 'Fix it', priority: 'high' },
  })
  const mike = kept(await spawnMailAgent(gateway, keys.mike, { surface: 'cursor' }))
  await lola.call('GET', '/v1/agents')
  await donna.call('GET', '/v1/agents')

  await send('broadcast', {
    to: '*',
    signalType: 'x-SpecStatusChanged',
    payload: { spec_id: 'SPEC-033', status: 'final' },
  })
  await donna.waitFor('x-SpecStatusChanged')
  await mike.call('GET', '/v1/agents')
  await lola.call('GET', '/v1/agents')

  await donna.end()
  await lola.call('GET', '/v1/agents')
  await send('toDonna', { to: '@donna', subject: 'For when you are back' })
  const donnaAgain = kept(await spawnMailAgent(gateway, keys.donna, { surface: 'claude_code', isWoken: true }))
  await send('toDonnaAgain', { to: '@donna', subject: 'Welcome back' })
  await until(
    () => donnaAgain.signals.map(({ signal }) => signal.subject),
    (subjects) => subjects.includes('Welcome back'),
  )

  const mikeAgain = kept(await spawnMailAgent(gateway, keys.mike, { surface: 'cursor' }))
  await mikeAgain.call('GET', '/v1/agents')
  await mike.call('GET', '/v1/agents')
  await mikeAgain.call('GET', '/v1/agents')
  return { gateway, lola, donna, mike, sent, donnaAgain, mikeAgain }
}

const ofType = (agent: MailAgent, type: string): ReceivedSignal[] =>
  agent.signals.filter(({ signal }) => signal.signal_type === type)

test('1: both surfaces send signals', () => {
  const { sent } = story
  expect(sent.request.status).toBe(201)
  expect(sent.thread.map((mail: { from: string; signalType: string }) => [mail.from, mail.signalType])).toEqual([
    ['@lola', 'ReviewRequested'],
    ['@donna', 'ReviewCompleted'],
    ['@lola', 'Acknowledgment'],
  ])
})

test('2: a name resolves to the session that speaks for it now', () => {
  const { sent, donna, donnaAgain } = story
  expect(sent.request.body.resolvedToSession).toBe(donna.sessionId)
  expect(sent.toDonna.body.resolvedToSession).toBeNull()
  expect(sent.toDonnaAgain.body.resolvedToSession).toBe(donnaAgain.sessionId)
})

test('3: an agent with a session gets a signal within five seconds, or with its next call', () => {
  const { sent, donna, lola } = story
  const [request] = ofType(donna, 'ReviewRequested')
  expect(request!.at - sent.request.at).toBeLessThan(5_000)
  expect(ofType(lola, 'ReviewCompleted')).toHaveLength(1)
})

test('4: a signal for an agent without a session is kept, and arrives with its next start', () => {
  const { sent, mike } = story
  expect(sent.offline.body).toMatchObject({ delivered: false, queued: true, resolvedToSession: null })
  expect(ofType(mike, 'TaskAssigned')).toMatchObject([
    { received: 'startup_drain', signal: { from: '@lola', payload: { description: 'Fix it', priority: 'high' } } },
  ])
})

test('5: a surface without a wake route gets pending signals in the answers to its calls', () => {
  const { sent, lola } = story
  expect(ofType(lola, 'ReviewCompleted')).toMatchObject([
    {
      received: 'piggyback',
      signal: {
        signal_id: sent.review.messageId,
        from: '@donna',
        in_reply_to: sent.request.body.messageId,
        payload: { spec_id: 'SPEC-033', gaps: ['§5', '§6'] },
        received_at: expect.stringMatching(/Z$/),
      },
    },
  ])
})

// S1-1
test('6: a surface with a wake route gets a signal without a call', () => {
  const { donna } = story
  for (const type of ['ReviewRequested', 'Acknowledgment', 'x-SpecStatusChanged']) {
    expect(ofType(donna, type)).toMatchObject([{ received: 'push', signal: { from: '@lola' } }])
  }
})

test('7: replies are linked to what they answer, in one thread', () => {
  const { sent } = story
  const { messageId } = sent.request.body
  expect(sent.thread.map((mail: { inReplyTo: string }) => mail.inReplyTo)).toEqual([null, messageId, messageId])
  expect(new Set(sent.thread.map((mail: { threadId: string }) => mail.threadId))).toEqual(new Set([messageId]))
})

test('8: only the gateway announces joining, leaving and preemption', async () => {
  const { lola, donna, mike, mikeAgain } = story
  const joined = (agent: MailAgent) => ofType(agent, 'PeerJoined').map(({ signal }) => signal.payload)
  expect(joined(lola)).toContainEqual({ identity: '@mike', surface: 'cursor', session_id: mike.sessionId })
  expect(joined(donna)).toContainEqual({ identity: '@mike', surface: 'cursor', session_id: mike.sessionId })
  expect(ofType(lola, 'PeerLeft').map(({ signal }) => [signal.from, signal.payload])).toEqual([
    ['@gateway', { identity: '@donna', surface: 'claude_code', reason: 'ended' }],
  ])
  // D26: the preempted process, and not the newer one.
  expect(ofType(mikeAgain, 'MasterPreempted')).toEqual([])
  expect(ofType(mike, 'MasterPreempted')).toMatchObject([
    { received: 'piggyback', signal: { payload: { preempted_by: '@mike', new_master_session: mikeAgain.sessionId } } },
  ])
  const forged = { to: '@lola', signalType: 'PeerLeft', payload: { identity: '@mike' } }
  expect(await lola.call('POST', '/v1/messages', { ...forged, to: '@mike' })).toMatchObject({
    status: 403,
    body: { field: 'signalType' },
  })
})

test('9: a broadcast reaches every agent with a session, each by its own route, and not its sender', () => {
  const { lola, donna, mike } = story
  expect(ofType(donna, 'x-SpecStatusChanged')).toMatchObject([{ received: 'push' }])
  expect(ofType(mike, 'x-SpecStatusChanged')).toMatchObject([{ received: 'piggyback', signal: { to_identity: '*' } }])
  expect(ofType(lola, 'x-SpecStatusChanged')).toEqual([])
})

test('10: the whole story: request, review, answer, acknowledgment, without an intermediary', () => {
  const { lola, donna } = story
  const reviews = (agent: MailAgent) =>
    agent.signals
      .filter(({ signal }) => /^(Review|Ack)/.test(signal.signal_type))
      .map(({ received, signal }) => [received, signal.signal_type])
  expect(reviews(donna)).toEqual([
    ['push', 'ReviewRequested'],
    ['push', 'Acknowledgment'],
  ])
  expect(reviews(lola)).toEqual([['piggyback', 'ReviewCompleted']])
})

test('11: send, receive, reply, acknowledge: the sender is notified of each status', async () => {
  const { lola, donnaAgain, sent } = story
  const { messageId } = sent.toDonnaAgain.body
  for (const status of ['seen', 'acked', 'resolved']) {
    expect((await donnaAgain.call('POST', `/v1/messages/${messageId}/status`, { status })).status).toBe(200)
  }
  const { body } = await lola.call('GET', `/v1/messages/${messageId}`)
  expect(body.recipients).toMatchObject([
    { agent: '@donna', status: 'resolved', receipt: 'resolved', deliveryMethod: 'push' },
  ])
})

// The schema of the other engine is held to this one by test/storage. S2-18
test.skipIf(onPostgres)('12: the queue is a table of signals with an index of the undelivered ones', () => {
  using db = closing(new Sqlite(join(story.gateway.dataDir, 'rouse.db'), { readonly: true }))
  const columns = (table: string) =>
    (db.raw.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name)
  expect(columns('message')).toEqual(
    expect.arrayContaining(
      'id project_id sender_id sender_session address signal_type payload in_reply_to created_at'.split(' '),
    ),
  )
  expect(columns('message_recipient')).toEqual(
    expect.arrayContaining('agent_id message_id delivered_at delivery_method'.split(' ')),
  )
  const index = db.raw.prepare("select sql from sqlite_schema where name = 'message_recipient_pending'").get()
  expect(index).toEqual({ sql: expect.stringMatching(/\(agent_id, message_id\) where pending = 1/) })
})

test('13: the surface in the environment of a process decides, and nothing is guessed', () => {
  const { lola, donna, mike } = story
  const routes = [lola, donna, mike].map((agent) => new Set(agent.signals.map(({ received }) => received)))
  expect(routes[0]).toEqual(new Set(['piggyback']))
  expect(routes[1]!.has('push')).toBe(true)
  expect(routes[2]).toEqual(new Set(['startup_drain', 'piggyback']))
})

// S2-12
test('14: a strategy is one object and one line of the table, which no other file names', () => {
  const src = resolve(import.meta.dirname, '../../src')
  const imports = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(join(src, file), 'utf8').matchAll(/import \{ (.*) \} from '.*\/strategies\.ts'/g),
    ])
  const names = new Set(imports.flatMap(([, list = '']) => list.replaceAll('type ', '').split(', ')))
  expect(names).toEqual(new Set(['DeliveryStrategy', 'strategies', 'strategyOf']))
})

test('nothing was lost, and nothing arrived twice', () => {
  const { lola, donna, donnaAgain, mike, mikeAgain } = story
  for (const agents of [[lola], [donna, donnaAgain], [mike, mikeAgain]]) {
    const ids = agents.flatMap(({ signals }) => signals.map(({ signal }) => signal.signal_id))
    expect(new Set(ids).size).toBe(ids.length)
  }
  expect(donnaAgain.signals.find(({ signal }) => signal.subject === 'For when you are back')).toMatchObject({
    received: 'startup_drain',
  })
})

function closing(raw: Sqlite.Database): Disposable & { readonly raw: Sqlite.Database } {
  return { raw, [Symbol.dispose]: () => void raw.close() }
}
