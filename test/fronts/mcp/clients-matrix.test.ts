import { afterAll, beforeAll, expect, test } from 'vitest'
import { tools } from '../../../src/fronts/mcp/tools/table.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { connectHarness, type Harness, type Route, type Version } from './matrix-clients.ts'

let gateway: TestGateway
let bob: TestAgent
beforeAll(async () => {
  gateway = await startGateway({ env: { ROUSE_MESSAGES_PER_MINUTE: '0', ROUSE_STORM_TURNS: '0' } })
  await liftRates(gateway)
  bob = await gateway.addAgent('bob')
})
afterAll(() => gateway[Symbol.asyncDispose]())

const legacy = '2025-11-25'
const modern = '2026-07-28'

// S2-2
test.each<[Version, Route, string]>([
  ['1.x', 'http', legacy],
  ['2.x legacy', 'http', legacy],
  ['2.x auto', 'http', modern],
  ['2.x 2026-07-28', 'http', modern],
  ['1.x', 'process', legacy],
  ['2.x legacy', 'process', legacy],
  ['2.x auto', 'process', modern],
  ['2.x 2026-07-28', 'process', modern],
])('the client %s over %s speaks %s, and has everything that Rouse offers', async (version, route, expected) => {
  const handle = `@${version}-${route}`.toLowerCase().replace(/[^@\w-]/g, '-')
  const agent = await gateway.addAgent(handle)
  const harness = await connectHarness(gateway, agent, version, route)
  // The client 1.x knows one era, and says the version only to its transport over HTTP.
  if (version !== '1.x' || route === 'http') expect(harness.protocolVersion()).toBe(expected)
  expect(harness.client.getInstructions()).toContain('send_message')
  const takesWakes = expected === legacy && route === 'http'

  const call = callAndNote(harness)
  expect((await harness.client.listTools()).tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
  const subscribed = await call.run('manage_wake_subscription', {
    action: 'subscribe',
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: { coalesceWindow: 0 },
  })
  expect(subscribed).toMatchObject({ harnessTarget: takesWakes ? 'mcp-notifications' : 'disabled' })
  const mail = await hearOfMail(harness, handle, expected === modern, takesWakes)
  const taskId = await callTheOthers(call, mail)
  expect(call.called.sort()).toEqual(tools.map(({ name }) => name).sort())
  expect(harness.checks).toEqual(tools.map(() => true))
  await readEachResource(harness, { inbox: handle, thread: mail.threadId, task: taskId, agent: '@bob' })
  await getEachPrompt(harness)
})

interface Mail {
  readonly messageId: string
  readonly threadId: string
}

interface Calls {
  readonly called: string[]
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever a tool returns
  run(name: string, args?: JsonObject): Promise<any>
}

function callAndNote({ client }: Harness): Calls {
  const called: string[] = []
  const run = async (name: string, args: JsonObject = {}) => {
    called.push(name)
    const { isError, content, structuredContent } = await client.callTool({ name, arguments: args })
    expect(isError ?? false, `${name}: ${JSON.stringify(content)}`).toBe(false)
    return structuredContent
  }
  return { called, run }
}

/** Mail comes, and the client is notified by its subscription to the inbox, and by a wake where it takes wakes. */
async function hearOfMail(
  { client, updated, logged }: Harness,
  handle: string,
  isModern: boolean,
  takesWakes: boolean,
) {
  const uri = `rouse://inbox/${handle}`
  const listening = isModern ? await client.listen({ resourceSubscriptions: [uri] }) : undefined
  if (!isModern) await client.subscribeResource({ uri })
  const write = { to: handle, subject: 'Please look', wakePolicy: 'immediate' }
  const { body } = await gateway.call('POST', '/v1/messages', write, { key: bob.key })
  await until(
    () => updated,
    (uris) => uris.includes(uri),
  )
  await until(
    () => logged,
    (all) => !takesWakes || all.length > 0,
  )
  if (takesWakes) expect(logged[0]).toMatchObject({ eventType: 'wake/sent_to_me', payload: { subject: 'Please look' } })
  await listening?.close()
  return body as Mail
}

/** Calls each tool that was not called yet. Returns a task. */
async function callTheOthers({ run }: Calls, { messageId, threadId }: Mail): Promise<string> {
  expect(await run('wait_for_messages', { timeoutSeconds: 1 })).toMatchObject({ arrived: true })
  expect(await run('read_inbox')).toMatchObject({ messages: [{ messageId, subject: 'Please look' }] })
  expect(await run('read_thread', { threadId })).toMatchObject({ messages: [{ messageId }] })
  await run('mark_message', { messageId, status: 'acked' })
  await run('send_message', { inReplyTo: messageId, body: 'I have' })
  await run('whoami')
  await run('who')
  await run('set_presence', { state: 'active' })
  const { taskId } = await run('send_task', { to: '@bob', text: 'Look back' })
  expect(await run('list_tasks', { role: 'originator' })).toMatchObject({ tasks: [{ id: taskId }] })
  const { version } = await run('get_task', { taskId })
  expect(await run('move_task', { taskId, to: 'canceled', expectedVersion: version })).toMatchObject({
    state: 'canceled',
  })
  await run('claim', { action: 'claim', ref: threadId })
  await run('grant', { action: 'grant', grantee: '@bob', scope: 'CAN_READ_INBOX_OF' })
  return taskId
}

async function readEachResource({ client }: Harness, names: Readonly<Record<string, string>>) {
  const { resourceTemplates } = await client.listResourceTemplates()
  const kindOf = (template: string): string => template.split('/')[2]!
  expect(resourceTemplates.map(({ uriTemplate }) => kindOf(uriTemplate))).toEqual(Object.keys(names))
  for (const { uriTemplate } of resourceTemplates) {
    const uri = uriTemplate.replace(/\{\w+\}/, names[kindOf(uriTemplate)]!)
    const [content] = (await client.readResource({ uri })).contents
    expect(content, uri).toMatchObject({ uri, mimeType: 'application/json', text: expect.stringMatching(/^\{.*\}$/s) })
  }
}

async function getEachPrompt({ client }: Harness) {
  const { prompts } = await client.listPrompts()
  expect(prompts.map(({ name }) => name)).toEqual(['answer-my-mail', 'hand-over'])
  for (const { name, arguments: given = [] } of prompts) {
    const args = Object.fromEntries(given.map((one) => [one.name, '@bob']))
    const { messages } = await client.getPrompt({ name, arguments: args })
    expect(messages, name).not.toEqual([])
  }
}
