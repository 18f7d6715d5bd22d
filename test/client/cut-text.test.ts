import { expect, test } from 'vitest'
import { createGatewayClient } from '../../src/client/gateway-client.ts'
import type { Wake } from '../../src/client/wakes/wake.ts'
import { runWakeCommand } from '../../src/client/wakes/wake-command.ts'
import { readWakeContext } from '../../src/client/wakes/wake-context.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'

const wake: Wake = {
  eventType: 'wake/sent_to_me',
  eventId: '01KABCDEFGHJKMNPQRSTVWXYZ0',
  agentIdentity: '@donna',
  payload: {},
}

/** Returns what the command of such a wake gets: ROUSE_TEXT, and its standard input. */
async function given(gateway: TestGateway, { key }: TestAgent, payload: Wake['payload']) {
  const client = createGatewayClient({ url: gateway.url, credentials: async () => ({ key }) })
  const about = { ...wake, payload }
  const context = await readWakeContext(client, about)
  const said: string[] = []
  const add = (text: string) => void said.push(text)
  const command = 'printf "%s\\0" "$ROUSE_TEXT"; cat'
  await runWakeCommand(about, { command, env: process.env, context, stdout: add, stderr: add })
  const [text = '', input = ''] = said.join('').split('\0')
  return { text, lastLine: text.split('\n').at(-1), input: JSON.parse(input) }
}

test('a text that is cut says so in its last line, and how to read the rest', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const letter = { to: '@donna', subject: 'long', body: `${'😀'.repeat(30_000)} THE POINT` }
  const { messageId } = (await gateway.call('POST', '/v1/messages', letter)).body
  const mail = await given(gateway, donna, { messageId })
  expect(mail.text).toHaveLength(32_768)
  expect(mail.text.isWellFormed()).toBe(true)
  expect(mail.lastLine).toBe(`(Cut here. Read the rest with the tool read_inbox (or: rouse thread ${messageId}).)`)
  expect(mail.input.messages[0].body).toBe(letter.body)
  expect(mail.input).not.toHaveProperty('rest')
  const { id } = await gateway.send('donna', letter.body)
  const task = await given(gateway, donna, { taskId: id })
  expect(task.lastLine).toBe(`(Cut here. Read the rest with the tool get_task (or: rouse task show ${id}).)`)
})

test('a digest of more than a command gets says so, and how to read the rest', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { body } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'hi', body: 'Hello' })
  const { body: second } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'hi', body: 'Again' })
  const refs = [body, second].map(({ messageId }) => ({ messageId }))
  const whole = await given(gateway, donna, { refs })
  expect(whole.lastLine).toBe('Again')
  const missing = Array.from({ length: 20 }, (_, i) => ({ messageId: `MESSAGE:${i}` }))
  const rest =
    '(Cut here. Read the rest with the tools read_inbox and list_tasks (or: rouse inbox --unread, rouse task list).)'
  for (const payload of [{ refs: [...refs, ...missing] }, { refs, refsTruncated: true }]) {
    const part = await given(gateway, donna, payload)
    expect(part).toMatchObject({ lastLine: rest, input: { rest } })
    expect(part.text).toContain('Again')
  }
})
