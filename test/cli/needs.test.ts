import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

test('needs lists what waits for a person, and how to answer it', async () => {
  await using gateway = await startGateway()
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  expect((await run(['needs'], env)).stdout).toBe('Nothing waits for you.\n')
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'deploy')
  await gateway.move(donna, id, 'input-required', { message: 'Where?\u001b[2J' })
  const { code, stdout } = await run(['needs'], env)
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^Stops work: 1\\.\n\nKIND .*\ninput +@donna +\\S+Z +${id} +deploy: Where\\?`))
  expect(stdout).not.toContain('\u001b[2J')
  expect(stdout).toContain(`rouse answer ${id} "…"`)
  const { body: mail } = await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'x' }, donna)
  expect((await run(['needs'], env)).stdout).toContain(`Put mail away:  rouse mark ${mail.messageId} resolved`)
  await gateway.call('POST', `/v1/messages/${mail.messageId}/status`, { status: 'resolved' })
  const json = JSON.parse((await run(['needs', '--json'], env)).stdout)
  expect(json).toMatchObject({ needs: [{ kind: 'input', agent: '@donna', taskId: id }], more: false })
})

test('snooze puts a need off, and needs leaves it out until --all', async () => {
  await using gateway = await startGateway()
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'deploy')
  await gateway.move(donna, id, 'input-required', { message: 'Where?' })
  await gateway.call('PUT', '/v1/parked', { until: null, reason: 'spend-cap' }, donna)
  const put = await run(['snooze', id.slice(-8), '4h'], env)
  expect([put.code, put.stdout]).toEqual([0, expect.stringMatching(/^Put off: 20\S+Z\.\n$/)])
  expect((await run(['snooze', 'parked:@donna'], env)).code).toBe(0)
  expect((await run(['needs'], env)).stdout).toBe('Nothing waits for you.\nPut off: 2. rouse needs --all\n')
  expect((await run(['needs', '--all'], env)).stdout).toMatch(/input +@donna .*\[put off, 20\S+Z\] deploy: Where\?/)
  expect((await run(['snooze', id, '--off'], env)).stdout).toBe('It is not put off any more.\n')
  expect((await run(['needs'], env)).stdout).toMatch(/input +@donna .* Where\?/)
})

test('snooze names what it does not find, and does nothing', async () => {
  await using gateway = await startGateway()
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const { code, stderr } = await run(['snooze', 'nothing'], env)
  expect(code).toBe(2)
  expect(stderr).toContain('Nothing with the id nothing waits for a person')
  expect((await run(['snooze', 'nothing', 'long'], env)).code).toBe(2)
})

test('needs shows the mail of each sender in one line, says how many there are, and lists them all', async () => {
  await using gateway = await startGateway()
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const [eve, bob] = [await gateway.addAgent('eve'), await gateway.addAgent('bob')]
  const say = ({ key }: { key: string }, subject: string) =>
    gateway.call('POST', '/v1/messages', { to: '@operator', subject }, { key })
  const ids: string[] = []
  for (let n = 1; n <= 12; n++) ids.push((await say(eve, `mail ${n}.`)).body.messageId)
  await say(bob, 'URGENT')
  const { stdout } = await run(['needs'], env)
  expect(stdout).toMatch(/^Mail: 13\.\n\n.*\n.*@eve .* 12 messages, the first: mail 1\.\n.*@bob .* URGENT\n/)
  expect(stdout).toContain('\nAll of an agent: rouse needs --agent @eve\n')
  const all = await run(['needs', '--agent', '@eve'], env)
  expect(all.stdout).toMatch(/ mail 1\.\n[\s\S]* mail 12\.\n\n/)
  expect(all.stdout).not.toContain('URGENT')
  expect(JSON.parse((await run(['needs', '--json'], env)).stdout)).toMatchObject({ total: { mail: 13 }, atLeast: [] })
  await gateway.move(eve, (await gateway.send('eve', 'deploy')).id, 'input-required', { message: 'Where?' })
  expect((await run(['needs'], env)).stdout).toMatch(/^Stops work: 1\. Mail: 13\.\n\nKIND .*\ninput .*\nmail /)
  expect((await run(['snooze', ids[11]!, '1h'], env)).code).toBe(0)
  expect((await run(['needs', '--agent', 'eve'], env)).stdout).toContain('Put off: 1.')
})
