import { expect, test } from 'vitest'
import { addUsage, readAgentUsage } from '../../src/admission/usage-store.ts'
import { pruneMessages } from '../../src/mailbox/retention.ts'
import { createHandoffMail } from '../../src/mailbox/sending/handoff-mail.ts'
import { type MailInput, sendMail } from '../../src/mailbox/sending/send-mail.ts'
import { findAgentById } from '../../src/registry/agents/agent-store.ts'
import type { Transaction } from '../../src/storage/database.ts'
import { sql, statement } from '../../src/storage/statement.ts'
import { openOffice } from './office.ts'

const dayMs = 24 * 60 * 60 * 1000
const others = Array.from({ length: 20 }, (_, n) => `agent-${n}`)
/** The bytes that the sender has stored beside the mail: a sum that is given back twice cannot hide below zero. */
const before = 1_000_000
const allDelivered = statement(sql`update message_recipient set delivered_at = 1`)

/** Mailboxes where what lola stores is counted as it is sent. */
async function openCounting() {
  const office = await openOffice('lola', ...others)
  const lola = office.caller('lola')
  const added: number[] = []
  const usage = { requireRoom() {}, add: (_tx: Transaction, _caller: unknown, bytes: number) => void added.push(bytes) }
  const context = { ...office.context, usage }
  const counted = () => added.reduce((sum, bytes) => sum + bytes, 0)
  return {
    send: (input: MailInput) => sendMail(context, lola, input),
    handOver: (body: string, ref: string) =>
      office.db.transaction(async (tx) => {
        const recipient = (await findAgentById(tx, office.caller('agent-0').id))!
        const handed = { sender: lola, recipient, projectId: 'default', ref, body }
        return createHandoffMail(context)(tx, handed, async () => {})
      }),
    counted,
    /** Returns what lola has stored after retention has removed all of her mail. */
    async afterRetention() {
      await office.db.transaction((tx) =>
        addUsage(tx, [{ agentId: lola.id, projectId: 'default', bytes: before + counted() }]),
      )
      office.clock.advance(31 * dayMs)
      await office.db.transaction((tx) => tx.run(allDelivered, {}))
      expect(await pruneMessages(office.db, office.clock.now(), 30 * dayMs, new AbortController().signal)).toBe(1)
      return readAgentUsage(office.db, lola.id)
    },
    [Symbol.asyncDispose]: () => office[Symbol.asyncDispose](),
  }
}

test.each<[string, MailInput, number]>([
  ['a short text', { to: '@agent-0', subject: 'é', body: 'ü' }, 1_024 + 200],
  [
    'concepts',
    { to: '@agent-0', subject: 'x', taggedConcepts: Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(150, 'é')) },
    20_000,
  ],
  ['many recipients', { to: '*', subject: 'x' }, 1_024 + others.length * 200],
  ['a ref', { to: '@agent-0', subject: 'x', ref: 'ß'.repeat(400) }, 1_024 + 200 + 800],
  [
    'a signal',
    { to: '@agent-0', signalType: 'Custom.Long', payload: { text: 'ö'.repeat(500) } },
    1_024 + 200 + 'Custom.Long'.length + 1_000,
  ],
])('mail with %s counts what it takes, and retention gives back the same', async (_what, input, least) => {
  await using mailboxes = await openCounting()
  await mailboxes.send(input)
  expect(mailboxes.counted()).toBeGreaterThanOrEqual(least)
  expect(await mailboxes.afterRetention()).toBe(before)
})

test('the mail of a hand-off counts for who sends it, and retention gives back the same', async () => {
  await using mailboxes = await openCounting()
  await mailboxes.handOver('ä'.repeat(30_000), 'issue-7')
  expect(mailboxes.counted()).toBeGreaterThan(60_000)
  expect(await mailboxes.afterRetention()).toBe(before)
})
