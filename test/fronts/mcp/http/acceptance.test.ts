import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/lib/json.ts'
import { startGateway } from '../../../support/gateway.ts'
import { startReceiver } from '../../../support/receiver.ts'
import { until } from '../../../support/until.ts'
import { runTool } from '../office.ts'
import { connectNew } from './clients.ts'

// S2-1
test('a review goes from Lola to Donna and back with tools alone: one is woken, the other finds it in her next answer', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const [lola, donna] = [await gateway.addAgent('lola'), await gateway.addAgent('donna')]
  await using desktop = await connectNew(gateway, lola, 'legacy')
  await using code = await connectNew(gateway, donna, '2026-07-28')
  const lolaRuns = (tool: string, args?: JsonObject) => runTool(desktop.client, tool, args)
  const donnaRuns = (tool: string, args?: JsonObject) => runTool(code.client, tool, args)

  // Both are there, and Donna's harness is woken by a webhook.
  await lolaRuns('whoami')
  const subscribed = await donnaRuns('manage_wake_subscription', {
    action: 'subscribe',
    trigger: 'SENT_TO_ME',
    filters: { senderFilter: ['@lola'] },
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: { url: receiver.url, coalesceWindow: 0 },
    startFrom: 'now',
  })
  expect(subscribed.isError, subscribed.text).toBe(false)
  await lolaRuns('whoami')

  const question = await lolaRuns('send_message', {
    to: '@donna',
    subject: 'Please review SPEC-034',
    signalType: 'ReviewRequested',
    payload: { spec_id: 'SPEC-034', instructions: 'Look at the gaps.' },
  })
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body).toMatchObject({ eventType: 'wake/sent_to_me', payload: { messageId: question.data.messageId } })

  const [mail] = (await donnaRuns('read_inbox', { signalType: 'ReviewRequested' })).data.messages
  expect(mail).toMatchObject({ from: '@lola', payload: { spec_id: 'SPEC-034' } })
  await donnaRuns('mark_message', { messageId: mail.messageId, status: 'acked' })
  const answered = await donnaRuns('send_message', {
    inReplyTo: mail.messageId,
    signalType: 'ReviewCompleted',
    payload: { spec_id: 'SPEC-034', summary: 'Good', gaps: [], recommendation: 'approve' },
  })
  expect(answered.isError, answered.text).toBe(false)

  const next = await lolaRuns('who')
  expect(next.data.pendingSignals).toMatchObject([
    { signal_type: 'ReviewCompleted', from: '@donna', in_reply_to: question.data.messageId, payload: { gaps: [] } },
  ])
  const [{ signal_id: reviewId }] = next.data.pendingSignals
  const thanks = { inReplyTo: reviewId, signalType: 'Acknowledgment', payload: { message: 'Thank you' } }
  const acknowledged = await lolaRuns('send_message', thanks)
  expect((await receiver.waitFor(2))[1]!.body.payload.messageId).toBe(acknowledged.data.messageId)
  const thread = await donnaRuns('read_thread', { threadId: mail.threadId })
  expect(thread.data.messages.map(({ signalType }: { signalType: string }) => signalType)).toEqual([
    'ReviewRequested',
    'ReviewCompleted',
    'Acknowledgment',
  ])
})

test.each(['legacy', '2026-07-28'] as const)(
  'the first call of a tool starts a session, in the mode %s',
  async (mode) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await using one = await connectNew(gateway, donna, mode)
    await one.client.listTools()
    await one.client.listResources()
    const sessions = async () =>
      (await gateway.call('GET', '/v1/sessions', undefined, { key: donna.key })).body.sessions
    expect(await sessions()).toEqual([])
    await Promise.all([runTool(one.client, 'who'), runTool(one.client, 'whoami'), runTool(one.client, 'list_tasks')])
    expect(await sessions()).toMatchObject([{ surface: 'test', status: 'live' }])
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello' })
    expect((await runTool(one.client, 'whoami')).data.pendingSignals).toMatchObject([{ subject: 'Hello' }])
  },
)

test.each(['legacy', '2026-07-28'] as const)('waits for mail over HTTP, in the mode %s', async (mode) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await using one = await connectNew(gateway, donna, mode)
  await runTool(one.client, 'whoami')
  const waiting = runTool(one.client, 'wait_for_messages', { timeoutSeconds: 30 })
  await runTool(one.client, 'who')
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Wake up' })
  expect((await waiting).data).toMatchObject({ arrived: true, pendingSignals: [{ subject: 'Wake up' }] })
  const gone = new AbortController()
  const cancelled = one.client.callTool({ name: 'wait_for_messages' }, { signal: gone.signal })
  await runTool(one.client, 'who')
  gone.abort()
  await expect(cancelled).rejects.toThrow()
  // One mode cancels with a notification, the other by closing the connection: the mail may be faster than either.
  await one.allSent()
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Still here' })
  const signals = await until(async () => (await runTool(one.client, 'whoami')).data.pendingSignals, Array.isArray)
  expect(signals).toMatchObject([{ subject: 'Still here' }])
})
