import { expect, test } from 'vitest'
import { liftRates, startGateway } from '../support/gateway.ts'

const handover = 'sunset-protocol-handover'

// S1-47
test('a fresh process finds the handover note: its pending signals carry the concepts, and the inbox filters by one', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const send = async (subject: string, fields: object = {}) =>
    (await gateway.call('POST', '/v1/messages', { to: '@donna', subject, ...fields })).body.messageId
  await send('plain')
  const noted = await send('note', { taggedConcepts: ['other', handover] })
  const quiet = await send('quiet note', { taggedConcepts: [handover], wakePolicy: 'silent' })
  await send('nearly', { taggedConcepts: [`${handover}-not`] })
  const { body } = await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, donna)
  const pending = body.pendingSignals.map((signal: { subject: string; taggedConcepts: string[] }) => [
    signal.subject,
    signal.taggedConcepts,
  ])
  expect(pending).toContainEqual(['note', ['other', handover]])
  const inbox = async (query: string) =>
    (await gateway.call('GET', `/v1/inbox?taggedConcept=${handover}${query}`, undefined, donna)).body
  const found = (await inbox('')).messages.map(({ messageId }: { messageId: string }) => messageId)
  expect(found).toEqual([quiet, noted])
  const first = await inbox('&limit=1&order=oldest')
  expect(first.messages).toMatchObject([{ messageId: noted }])
  const second = await inbox(`&limit=1&order=oldest&pageToken=${first.nextPageToken}`)
  expect(second.messages).toMatchObject([{ messageId: quiet }])
  expect((await inbox('&thread=none')).messages).toEqual([])
})

test('a page that looks for a rare concept is bounded, and says where the next one begins', async () => {
  await using gateway = await startGateway()
  await liftRates(gateway)
  const donna = await gateway.addAgent('donna')
  const send = (n: number) =>
    gateway.call('POST', '/v1/messages', {
      to: '@donna',
      subject: `${n}`,
      ...(n === 0 ? { taggedConcepts: [handover] } : {}),
    })
  for (let n = 0; n <= 1_050; n += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => send(n + k)))
  const page = async (token = '') =>
    (await gateway.call('GET', `/v1/inbox?taggedConcept=${handover}${token}`, undefined, donna)).body
  const first = await page()
  expect(first.messages).toEqual([])
  const second = await page(`&pageToken=${first.nextPageToken}`)
  expect(second).toMatchObject({ messages: [{ subject: '0' }], nextPageToken: '' })
})
