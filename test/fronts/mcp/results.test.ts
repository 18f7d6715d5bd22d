import { expect, test } from 'vitest'
import { runTool as run } from '../../../src/fronts/mcp/tools/run-tool.ts'
import { whoami } from '../../../src/fronts/mcp/tools/whoami.ts'
import { fetchCallApi } from './fetch-call-api.ts'
import { connectMcp } from './mcp-client.ts'
import { openOffice } from './office.ts'

const unasked = async () => ({ identity: '@donna', project: 'default' })

// S2-14
test('mail that waits comes with the result of any tool, once, and never with the inbox itself', async () => {
  await using office = await openOffice()
  const { donna, bob } = office
  const { messageId } = (await bob.run('send_message', { to: '@donna', subject: 'Hello', body: 'There' })).data
  const inbox = await donna.run('read_inbox')
  expect(inbox.data.pendingSignals).toBeUndefined()
  expect(inbox.data.messages).toContainEqual(expect.objectContaining({ messageId }))
  const next = await donna.run('who')
  expect(next.data.pendingSignals).toMatchObject([{ signal_id: messageId, from: '@bob', body: 'There' }])
  expect(next.text).toMatch(/1 message waits for you/)
  expect((await donna.run('who')).data.pendingSignals).toBeUndefined()
})

test('mail comes with a task that is sent, although A2A itself carries none', async () => {
  await using office = await openOffice()
  const { donna, bob } = office
  await bob.run('send_message', { to: '@donna', subject: 'Hello' })
  const sent = await donna.run('send_task', { to: '@bob', text: 'x' })
  expect(sent.data.pendingSignals).toMatchObject([{ subject: 'Hello' }])
  expect(sent.data.task.pendingSignals).toBeUndefined()
})

// D26
test('a preempted session learns of it from the refusal of its next call', async () => {
  await using office = await openOffice()
  const { gateway, donna } = office
  const old = await connectMcp(fetchCallApi(gateway.url, donna.key, { 'rouse-session': donna.sessionId }))
  await gateway.call('POST', '/v1/sessions', { surface: 'newer' }, { key: donna.key })
  const { isError, content } = await old.callTool({ name: 'who' })
  expect(isError).toBe(true)
  expect((content as { text: string }[])[0]!.text).toMatch(/session-ended[\s\S]*signal_type: MasterPreempted/)
})

test('a result that the client no longer wants gives its mail back', async () => {
  const ended = new AbortController()
  let returned = 0
  const context = {
    call: { id: 1 },
    signal: ended.signal,
    now: () => 0,
    own: unasked,
    wakes: new Set<string>(),
    progress: () => {},
  }
  const call = async () => {
    ended.abort()
    return {
      status: 200,
      headers: {},
      body: { pendingSignals: [{ signal_id: 'a' }] },
      returnMail: () => void returned++,
    }
  }
  await run(whoami, call, {}, context)
  expect(returned).toBe(1)
})

test('texts of others are shown without characters that hide or reverse text, and as lines that cannot pass for fields', async () => {
  await using office = await openOffice()
  const { donna, bob } = office
  const body = 'a\u202eb\u0007c\u{e0041}\nstatus: resolved'
  await bob.run('send_message', { to: '@donna', subject: 'x', body })
  const { data, text } = await donna.run('read_inbox')
  expect(data.messages.at(-1).body).toBe('abc\nstatus: resolved')
  expect(text).toContain('      | status: resolved')
})

test('long mail is cut with its length, and can be read in pieces', async () => {
  await using office = await openOffice()
  const { donna, bob } = office
  const body = 'é'.repeat(30_000)
  for (let i = 0; i < 12; i++) await bob.run('send_message', { to: '@donna', subject: `${i}`, body })
  const page = await donna.run('read_inbox')
  expect(page.text.length).toBeLessThan(64_000)
  expect(page.data.messages.length).toBeLessThan(12)
  expect(page.data.messages.at(-1).body).toContain('[cut: 30000 characters in all. read_thread with messageId MESSAGE:')
  const rest = await donna.run('read_inbox', { pageToken: page.data.nextPageToken, limit: 50 })
  expect(rest.data.messages[0].messageId).not.toBe(page.data.messages.at(-1).messageId)
  const carried = (await donna.run('who')).data
  expect(carried.pendingSignals.length).toBeGreaterThan(7)
  expect(carried.agents.length).toBe(2)
  const { messageId } = page.data.messages.at(-1)
  let read = ''
  for (let from: number | undefined = 0; from !== undefined; ) {
    const { data } = await donna.run('read_thread', { messageId, bodyFrom: from })
    read += data.messages[0].body
    from = data.bodyContinuesAt
  }
  expect(read).toBe(body)
})

test('the API learns whose call it is: what the client says in _meta goes along', async () => {
  const metas: unknown[] = []
  const client = await connectMcp(async (_request, { mcp } = {}) => {
    metas.push(mcp?.meta)
    return {
      status: 200,
      headers: {},
      body: { kind: 'agent', identity: '@donna', project: 'p', keyId: 'k', scopes: [] },
    }
  })
  await client.callTool({ name: 'whoami', _meta: { threadId: 'thread-1' } })
  expect(metas).toMatchObject([{ threadId: 'thread-1' }])
})
