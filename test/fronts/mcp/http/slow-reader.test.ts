import { get, type IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { UnreadAnswers } from '../../../../src/admission/unread-answers.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../../../support/gateway.ts'
import { besideStore } from '../../../support/store.ts'
import { until } from '../../../support/until.ts'
import { stateOf, untilStatus } from '../../../wakes/acts.ts'
import { beginSession, openStream, type SessionReader } from './wire.ts'

const negotiated = { capabilities: { experimental: { 'neo-wake-substrate': { version: '1.0' } } } }
const subscriptions = 50

async function subscribe(gateway: TestGateway, { key }: TestAgent): Promise<string> {
  const harnessTargetMetadata = { coalesceWindow: 0 }
  const request = { trigger: 'SENT_TO_ME', harnessTarget: 'mcp-notifications', harnessTargetMetadata }
  return (await gateway.call('POST', '/v1/wake-subscriptions', request, { key })).body.subscriptionId
}

/** Opens the stream of a session, reads its beginning, and then nothing. Returns the id of that. */
async function openUnread(gateway: TestGateway, { key }: TestAgent, session: Record<string, string>) {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${key}`, ...session }
  const request = get(`${gateway.url}/mcp`, { headers, agent: false })
  request.on('error', () => {})
  const answer = await new Promise<IncomingMessage>((resolve) => request.once('response', resolve))
  const first = await new Promise<string>((resolve) => {
    answer.once('data', (chunk) => {
      answer.pause()
      resolve(String(chunk))
    })
  })
  return { id: /^id: (.*)$/m.exec(first)![1]!, leave: () => request.destroy() }
}

/** The number of messages that each subscription has announced, on one stream: the fewest of all. */
function announcedTo({ notifications }: SessionReader, ids: readonly string[]): number {
  const wakes = notifications
    .filter(({ method }) => method === 'notifications/message')
    .map(({ params }) => params.data)
  const announced = ids.map((id) =>
    wakes
      .filter(({ subscriptionId }) => subscriptionId === id)
      .reduce((sum, { payload }) => sum + (payload.eventCount ?? 1), 0),
  )
  return Math.min(...announced)
}

// S1-29, S1-31
test('a reader of wakes that reads nothing costs little and harms nobody, is ended, and has all of them when it is back', async () => {
  const answers = new UnreadAnswers()
  const overrides = { unread: answers, connectionBounds: { readerStall: 2 } }
  await using gateway = await startGateway({ env: { ROUSE_MESSAGES_PER_MINUTE: '0' }, overrides })
  const [slow, quick] = [await gateway.addAgent('slow'), await gateway.addAgent('quick')]
  await liftRates(gateway)
  // Each message is a wake of every subscription, so that the connection is full soon.
  const ids: string[] = []
  for (let count = 0; count < subscriptions; count++) ids.push(await subscribe(gateway, slow))
  const quickId = await subscribe(gateway, quick)
  await using beside = await openStream(gateway, quick, await beginSession(gateway, quick, negotiated))
  const session = await beginSession(gateway, slow, negotiated)
  const unread = await openUnread(gateway, slow, session)
  await untilStatus(gateway, slow, ids.at(-1)!, 'active')

  const slowId = String((await besideStore(gateway.dataDir, "select id from agent where handle = '@slow'"))[0]!.id)
  let sent = 0
  let unreadMax = 0
  await until(
    async () => {
      for (const to of ['@slow', '@quick']) await gateway.call('POST', '/v1/messages', { to, subject: 'x'.repeat(200) })
      sent++
      unreadMax = Math.max(unreadMax, answers.bytesOf({ kind: 'agent', id: slowId, keyId: '' }))
      return (await stateOf(gateway, slow, ids[0]!)).status
    },
    (status) => status === 'waiting',
    60_000,
    5,
  )
  unread.leave()
  // One wake of each subscription at most waits for the reader.
  expect(unreadMax).toBeLessThan(1024 * 1024)
  await until(
    () => announcedTo(beside, [quickId]),
    (announced) => announced === sent,
  )
  await using again = await openStream(gateway, slow, { ...session, 'last-event-id': unread.id })
  await until(
    () => announcedTo(again, ids),
    (announced) => announced === sent,
  )
})
