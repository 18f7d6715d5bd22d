import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { atTestEnd } from '../support/ends.ts'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { rouseWords } from '../support/program/rouse-words.ts'
import { until } from '../support/until.ts'

const args = [...rouseWords(), 'mcp']
const inbox = 'rouse://inbox/@donna'

/** An agent whose harness is the official client, on a `rouse mcp` of its own. `surface`: as in the environment of the harness. */
async function startAgent(gateway: ProcessGateway, handle: string, surface: string, mode: 'legacy' | 'auto') {
  const { key } = await gateway.addAgent(handle)
  const env = { PATH: process.env.PATH ?? '', ROUSE_URL: gateway.url, ROUSE_KEY: key, ROUSE_AGENT_SURFACE: surface }
  const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' })
  const client = new Client({ name: surface, version: '1.0.0' }, { versionNegotiation: { mode } })
  const updated: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri))
  await client.connect(transport)
  atTestEnd(() => client.close())
  const run = async (name: string, given: JsonObject = {}) => {
    const result = await client.callTool({ name, arguments: given })
    expect(result.isError, JSON.stringify(result.content)).toBeUndefined()
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
    return result.structuredContent as any
  }
  return { client, run, updated }
}

// S2-1. Four processes: the gateway, a server for each harness, and this one, which has both harnesses. Each has its own tools alone.
test('a review goes from Lola to Donna and back over MCP on standard input and output, and nobody relays', async () => {
  await using gateway = await startProcessGateway()
  const [lola, donna] = await Promise.all([
    startAgent(gateway, 'lola', 'claude_desktop', 'auto'),
    startAgent(gateway, 'donna', 'claude_code', 'legacy'),
  ])
  // Both are there, and have been notified.
  await lola.run('whoami')
  await donna.run('whoami')
  await lola.run('whoami')
  await donna.client.subscribeResource({ uri: inbox })

  // Donna's harness is notified at once, without a call of hers.
  const question = await lola.run('send_message', {
    to: '@donna',
    subject: 'Please review SPEC-034',
    signalType: 'ReviewRequested',
    payload: { spec_id: 'SPEC-034', instructions: 'Look at the gaps.' },
  })
  await until(
    () => donna.updated,
    (uris) => uris.includes(inbox),
  )
  const [mail] = (await donna.run('read_inbox', { unread: true })).messages
  expect(mail).toMatchObject({
    messageId: question.messageId,
    from: '@lola',
    signalType: 'ReviewRequested',
    payload: { spec_id: 'SPEC-034' },
  })
  await donna.run('mark_message', { messageId: mail.messageId, status: 'acked' })
  await donna.run('send_message', {
    inReplyTo: mail.messageId,
    signalType: 'ReviewCompleted',
    payload: { spec_id: 'SPEC-034', summary: 'Good', gaps: ['§5'], recommendation: 'revise' },
  })

  // Donna waits meanwhile. Lola asks for nothing of hers, and finds the review in the answer.
  const waiting = donna.run('wait_for_messages', { timeoutSeconds: 30 })
  const { pendingSignals } = await lola.run('who')
  expect(pendingSignals).toMatchObject([
    { signal_type: 'ReviewCompleted', from: '@donna', in_reply_to: question.messageId, payload: { gaps: ['§5'] } },
  ])
  const [{ signal_id: reviewId }] = pendingSignals
  await lola.run('send_message', { inReplyTo: reviewId, signalType: 'Acknowledgment', payload: { message: 'Thanks' } })
  expect(await waiting).toMatchObject({
    arrived: true,
    pendingSignals: [{ signal_type: 'Acknowledgment', from: '@lola', in_reply_to: reviewId }],
  })

  // One thread, each message from one of the two to the other, and each read by its recipient.
  const { messages } = await lola.run('read_thread', { threadId: mail.threadId })
  expect(messages.map((one: JsonObject) => [one.from, one.signalType])).toEqual([
    ['@lola', 'ReviewRequested'],
    ['@donna', 'ReviewCompleted'],
    ['@lola', 'Acknowledgment'],
  ])
  expect((await lola.run('who')).pendingSignals).toBeUndefined()
})
