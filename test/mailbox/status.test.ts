import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  isDelivered,
  messageTransitions,
  predecessorsOf,
  receiptOf,
  report,
} from '../../src/mailbox/messages/status.ts'
import { messageStatuses, receipts, reportableStatuses } from '../../src/words/mail.ts'
import { startGateway } from '../support/gateway.ts'

const status = fc.constantFrom(...messageStatuses)
const reportable = fc.constantFrom(...reportableStatuses)

// S4-6: each row is a status, each column what a recipient says next.
test('the whole table', () => {
  const table = messageStatuses.map((from) =>
    reportableStatuses.map((to) => {
      try {
        return report(from, to)
      } catch {
        return '-'
      }
    }),
  )
  //       seen     acked    resolved superseded
  expect(table).toEqual([
    ['moved', 'moved', 'moved', 'moved'], // sent
    ['same', 'moved', 'moved', 'moved'], // seen
    ['-', 'same', 'moved', 'moved'], // acked
    ['-', '-', 'same', '-'], // resolved
    ['-', '-', '-', 'same'], // superseded
  ])
})

test('a refusal names the current status and the allowed ones', () => {
  expect(() => report('acked', 'seen')).toThrow(
    expect.objectContaining({
      code: 'message-status-conflict',
      field: 'status',
      extra: { from: 'acked', allowed: ['resolved', 'superseded'] },
    }),
  )
  expect(() => report('resolved', 'acked')).toThrow(/This status is final/)
})

test('the status never moves back, whatever a recipient reports in any order', () => {
  fc.assert(
    fc.property(fc.array(reportable, { maxLength: 12 }), (words) => {
      let at: (typeof messageStatuses)[number] = 'sent'
      const order = { sent: 0, seen: 1, acked: 2, resolved: 3, superseded: 3 }
      for (const word of words) {
        let next: (typeof messageStatuses)[number] = at
        try {
          if (report(at, word) === 'moved') next = word
        } catch {}
        expect(order[next]).toBeGreaterThanOrEqual(order[at])
        if (order[at] === 3) expect(next).toBe(at)
        at = next
      }
    }),
  )
})

test('a status can follow exactly the statuses before it', () => {
  fc.assert(
    fc.property(status, reportable, (from, to) => {
      expect(predecessorsOf(to).includes(from)).toBe((messageTransitions[from] as readonly string[]).includes(to))
    }),
  )
})

// D11
test('a receipt is the strongest evidence there is, and never more', () => {
  fc.assert(
    fc.property(status, fc.constantFrom('accepted', 'routed', 'written', 'turn_started' as const), (said, channel) => {
      const receipt = receiptOf({ status: said, receipt: channel as (typeof receipts)[number], ackedAt: null })
      expect(receipts.indexOf(receipt)).toBeGreaterThanOrEqual(receipts.indexOf(channel as (typeof receipts)[number]))
      if (said === 'sent') expect(receipt).toBe(channel)
    }),
  )
  // S4-6: what is thrown away is not what somebody will act on.
  expect(receiptOf({ status: 'superseded', receipt: 'written', ackedAt: null })).toBe('seen')
  expect(receiptOf({ status: 'superseded', receipt: 'written', ackedAt: 1 })).toBe('acked')
  expect(receipts.map(isDelivered)).toEqual([false, false, true, true, true, true, true])
})

// S4-6, D11
test('a message that is superseded unread has no receipt of an acknowledgement', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const { body: sent } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, mike)
  await gateway.call('POST', `/v1/messages/${sent.messageId}/status`, { status: 'superseded' }, donna)
  const { body } = await gateway.call('GET', `/v1/messages/${sent.messageId}`, undefined, mike)
  expect(body.recipients[0]).toMatchObject({ status: 'superseded', receipt: 'seen' })
  expect(body.recipients[0].ackedAt ?? null).toBeNull()
})
