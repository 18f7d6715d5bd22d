import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

const as = (gateway: TestGateway, agent?: { key: string }) => ({
  ROUSE_URL: gateway.url,
  ROUSE_KEY: agent?.key ?? gateway.adminKey,
})
const idIn = (text: string) => /message: +(\S+)/.exec(text)![1]!

// S4-11
test('a person writes as relay, and watches the chain advance', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const argv = ['mail', '@donna', 'The', 'build', 'is', 'red', '--ref', 'issue-7', '--subject', 'Build']
  const sent = await run(argv, as(gateway))
  expect(sent.code).toBe(0)
  const id = idIn(sent.stdout)
  expect(sent.stdout).toBe(
    `message:  ${id}\nthread:   ${id}\nto:       @donna\nreceipt:  accepted\nFollow it: rouse thread ${id}\n`,
  )
  const inbox = await run(['inbox', '--unread'], as(gateway, donna))
  expect(inbox.stdout).toMatch(new RegExp(`${id} +@operator +relay +sent +\\S+ +Build\n`))
  const before = await run(['thread', id], as(gateway))
  expect(before.stdout).toContain('The build is red\n')
  expect(before.stdout).toContain('ref:      issue-7\n')
  expect(before.stdout).toContain('→ @donna: sent, accepted\n')
  expect((await run(['mark', id, 'acked'], as(gateway, donna))).stdout).toBe(`${id} is acked.\n`)
  const after = await run(['thread', id], as(gateway))
  expect(after.stdout).toMatch(/→ @donna: .*acked \S+Z\n/)
  expect((await run(['inbox', '--unread'], as(gateway, donna))).stdout).toBe('Nothing unread.\n')
})

// S4-11
test('an agent answers the operator, who has an inbox too', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = idIn((await run(['mail', 'donna', 'Which branch?'], as(gateway))).stdout)
  const reply = await run(['reply', id, 'Main', '--type', 'answer', '--json'], as(gateway, donna))
  expect(JSON.parse(reply.stdout)).toMatchObject({ threadId: id, recipients: [{ agent: '@operator' }] })
  const { stdout } = await run(['inbox', '--json'], as(gateway))
  expect(JSON.parse(stdout).messages).toMatchObject([{ from: '@donna', type: 'answer', subject: 'Re: Which branch?' }])
  const thread = await run(['thread', id], as(gateway))
  expect(thread.stdout.match(/message:/g)).toHaveLength(2)
})

test('a broadcast shows its number of recipients', async () => {
  await using gateway = await startGateway()
  expect((await run(['mail', '*', 'Freeze'], as(gateway))).stdout).toContain(
    'to:       nobody: there is no other agent\n',
  )
  for (let i = 0; i < 6; i++) await gateway.addAgent(`agent-${i}`)
  const sent = await run(['mail', '*', 'Freeze'], as(gateway))
  expect(sent.stdout).toContain('to:       6 agents\n')
})

test('another agent’s inbox needs its permission', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await run(['mail', '@donna', 'Hello'], as(gateway))
  const look = () => run(['inbox', '--agent', '@donna'], as(gateway, mike))
  const refused = await look()
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('CAN_READ_INBOX_OF')
  await gateway.call('POST', '/v1/permissions', { grantee: 'mike', scope: 'CAN_READ_INBOX_OF' }, donna)
  expect((await look()).stdout).toContain('Hello')
  expect((await run(['inbox', '--agent', '@donna'], as(gateway))).stdout).toContain('Hello')
})

test('an empty inbox, a thread that is not there, a name with a slip, a wrong key', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  expect(await run(['inbox'], as(gateway))).toMatchObject({ code: 0, stdout: 'No mail yet.\n' })
  const lost = await run(['thread', 'MESSAGE:nope'], as(gateway))
  expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining('thread-not-found')])
  const slip = await run(['mail', 'dona', 'Hello'], as(gateway))
  expect([slip.code, slip.stderr]).toEqual([1, expect.stringContaining('Did you mean @donna?')])
  for (const argv of [['inbox'], ['who'], ['thread', 'x'], ['mail', 'x', 'y']]) {
    const { code, stderr } = await run(argv, { ROUSE_URL: gateway.url, ROUSE_KEY: 'rk_wrong' })
    expect([code, stderr]).toEqual([1, expect.stringContaining('unauthenticated')])
  }
})

test('sending again under the same key sends once', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const argv = ['mail', '@donna', 'Hello', '--idempotency-key', 'k1', '--json']
  const [first, second] = [await run(argv, as(gateway)), await run(argv, as(gateway))]
  expect(JSON.parse(second.stdout).messageId).toBe(JSON.parse(first.stdout).messageId)
})

test('text of others cannot move the cursor of the terminal', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const body = { to: '@donna', subject: 'ab', body: 'x\u001b]0;title\u0007\u001b[2Jy\nz' }
  const { messageId } = (await gateway.call('POST', '/v1/messages', body)).body
  const { stdout } = await run(['thread', messageId], as(gateway))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(stdout).not.toMatch(/[\u001b\u0007]/)
  expect(stdout).toContain('y\nz\n')
})

test.each([
  ['nothing to say', ['mail', '@donna'], '--subject'],
  ['an unknown type', ['mail', '@donna', 'x', '--type', 'letter'], 'msg, task, handoff'],
  ['an unknown policy', ['mail', '@donna', 'x', '--wake-policy', 'loud'], 'silent, next_turn, immediate'],
  ['an unknown status', ['mark', 'MESSAGE:1', 'read'], 'seen, acked, resolved, superseded'],
  ['an empty id', ['thread', ''], 'empty'],
])('%s is a usage error', async (_what, argv, hint) => {
  const { code, stderr } = await run(argv)
  expect([code, stderr]).toEqual([2, expect.stringContaining(hint)])
})

// S1-47, S4-12: what REST and MCP can tag, the command line can too
test('mail, replies and sends are tagged, and the inbox finds them by their concept', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const concepts = ['--concept', 'handover', '--concept', 'release']
  const id = idIn((await run(['mail', '@donna', 'Next: the migration', ...concepts], as(gateway, mike))).stdout)
  await run(['mail', '@donna', 'Something else'], as(gateway, mike))
  await run(['send', '@donna', 'Please review', '--concept', 'handover'], as(gateway))
  const found = await run(['inbox', '--concept', 'handover', '--json'], as(gateway, donna))
  expect(JSON.parse(found.stdout).messages).toMatchObject([
    { subject: 'Please review', taggedConcepts: ['handover'] },
    { subject: 'Next: the migration', taggedConcepts: ['handover', 'release'] },
  ])
  const reply = ['reply', id, 'I go on', '--concept', 'release']
  await run(reply, as(gateway, donna))
  const answer = await run(['inbox', '--concept', 'release', '--json'], as(gateway, mike))
  expect(JSON.parse(answer.stdout).messages).toMatchObject([{ inReplyTo: id, taggedConcepts: ['release'] }])
})

// S2-7
test('a signal needs no text, and its payload is checked', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const signal = (payload: string) => ['mail', '@donna', '--signal-type', 'StatusUpdate', '--payload', payload]
  expect((await run(signal('{"description":"done","artifacts":[]}'), as(gateway))).code).toBe(0)
  const read = await run(['inbox', '--signal-type', 'StatusUpdate', '--json'], as(gateway, donna))
  expect(JSON.parse(read.stdout).messages).toMatchObject([
    { signalType: 'StatusUpdate', payload: { description: 'done', artifacts: [] } },
  ])
  for (const payload of ['{', '[]', '"text"']) {
    const refused = await run(signal(payload), as(gateway))
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--payload: give a JSON object')])
  }
  expect((await run(signal('{}'), as(gateway))).stderr).toContain('description')
  const unknown = await run(['mail', '@donna', '--signal-type', 'StatusUpdat'], as(gateway))
  expect(unknown.stderr).toMatch(/--signal-type.*StatusUpdate/s)
})
