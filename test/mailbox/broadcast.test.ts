import { expect, test } from 'vitest'
import { readAudienceEvents } from '../../src/log/event-store.ts'
import { takePiggyback } from '../../src/mailbox/delivery/piggyback.ts'
import { listRecipients } from '../../src/mailbox/messages/recipient-store.ts'
import { reportStatus } from '../../src/mailbox/reading/report-status.ts'
import { servedMs } from '../support/served-time.ts'
import { openOffice } from './office.ts'

// S2-3, D10
test('one broadcast to a thousand: one message, one event, a row for each, and the sender untouched', async () => {
  const handles = Array.from({ length: 1_001 }, (_, n) => `agent${n}`)
  await using office = await openOffice(...handles)
  const started = servedMs()
  const { message, recipients } = await office.send('agent0', { to: '*', subject: 'Deploy at noon' })
  const tookMs = servedMs() - started
  console.log(`one broadcast to ${recipients.length} agents: ${tookMs.toFixed(1)} ms`)
  expect(tookMs).toBeLessThan(1_000)

  const rows = await listRecipients(office.db, message.id, 2_000)
  expect(new Set(rows.map(({ agentId }) => agentId))).toEqual(
    new Set(handles.slice(1).map((handle) => office.caller(handle).id)),
  )
  expect(rows.every(({ status, receipt }) => status === 'sent' && receipt === 'accepted')).toBe(true)
  const heard = await Promise.all(
    handles.map((handle) => readAudienceEvents(office.db, 'default', office.caller(handle).id, 1_001, 10)),
  )
  expect(heard.map((events) => events.length)).toEqual([0, ...Array(1_000).fill(1)])
  expect(new Set(heard.flat().map(({ logId }) => logId)).size).toBe(1)

  await reportStatus(office.context, office.caller('agent7'), message.id, 'acked')
  office.enter('agent8', 'cursor')
  expect(await takePiggyback(office.context, office.caller('agent8').id)).toMatchObject([{ to_identity: '*' }])
  const after = await listRecipients(office.db, message.id, 2_000)
  const changed = after.filter(({ status, receipt }) => status !== 'sent' || receipt !== 'accepted')
  expect(changed.map(({ handle, status, receipt }) => [handle, status, receipt])).toEqual([
    ['@agent7', 'acked', 'accepted'],
    ['@agent8', 'sent', 'written'],
  ])
})
