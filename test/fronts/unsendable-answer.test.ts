import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

/** Deeper than what a build accepts today, as an older one may have stored it: JSON.stringify runs out of stack. */
const deep = `{"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`

test('an answer that cannot be written is that request’s 500, its mail waits again, and the next request is answered', async () => {
  const { log, of } = logLines('warn')
  await using gateway = await startGateway({ overrides: { log } })
  const donna = await gateway.addAgent('donna')
  // It gets its mail with the answers to its calls.
  await gateway.call('POST', '/v1/sessions', { surface: 'claude_desktop' }, donna)
  const { id } = await gateway.send('donna', 'work')
  const whoami = () => gateway.call('GET', '/v1/whoami', undefined, donna)
  expect((await whoami()).body.pendingSignals).toHaveLength(1)
  await besideStore(gateway.dataDir, 'update task set metadata = ? where id = ?', deep, id)
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello' })

  const failed = await gateway.call('GET', `/v1/tasks/${id}`, undefined, donna)
  expect([failed.status, failed.body.code]).toEqual([500, 'internal'])
  expect(of('request.failed')).toHaveLength(1)
  const options = { key: donna.key, headers: { 'a2a-version': '1.0' } }
  const overA2a = await gateway.call('GET', `/agents/donna/tasks/${id}`, undefined, options)
  expect([overA2a.status, overA2a.body.error.message]).toEqual([500, failed.body.detail])
  expect(of('a2a.failed')).toHaveLength(1)
  const next = await until(whoami, ({ body }) => body.pendingSignals !== undefined)
  expect(next).toMatchObject({ status: 200, body: { identity: '@donna', pendingSignals: [{ subject: 'Hello' }] } })
  expect(of('mail.return_failed')).toEqual([])
})
