import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

// D11, S2-14, S4-13
test.each([
  ['tail', ['tail']],
  ['who', ['who']],
  ['task list', ['task', 'list']],
  ['claim take', ['claim', 'take', 'issue-7']],
])('%s says that mail waits, and leaves it undelivered and unread', async (_name, argv) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  await gateway.call('POST', '/v1/sessions', { surface: 'cursor' }, { key: donna.key })
  const { body: sent } = await gateway.call('POST', '/v1/messages', { to: 'donna', subject: 'Look' })
  await gateway.call('POST', '/v1/messages', { to: 'donna', subject: 'Look again' })
  for (let repeat = 0; repeat < 2; repeat++) {
    const { code, stderr } = await run(argv, env)
    expect([code, stderr]).toEqual([0, '2 new messages: rouse inbox --unread\n'])
  }
  expect((await run([...argv, '--json'], env)).stderr).toBe('')
  const read = await gateway.call('GET', `/v1/messages/${sent.messageId}`)
  expect(read.body.recipients[0]).toMatchObject({ status: 'sent', deliveryMethod: null })
  expect((await run(['inbox', '--unread'], env)).stdout).toContain('Look again')
  const next = await gateway.call('GET', '/v1/agents', undefined, { key: donna.key })
  expect(next.body.pendingSignals).toHaveLength(2)
})
