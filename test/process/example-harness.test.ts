import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { newSigningKey, signHeaders } from '../../src/words/signature.ts'
import { atTestEnd } from '../support/ends.ts'
import { startGateway } from '../support/gateway.ts'
import { spawnExample } from '../support/spawn-example.ts'
import { until } from '../support/until.ts'

const script = fileURLToPath(new URL('../../examples/harness.mjs', import.meta.url))

// D29: what waits is sent as soon as the subscription is there, which its maker may not know yet.
test('a wake that comes before the answer of the subscription is requested again, and not refused', async () => {
  const key = newSigningKey()
  const body = JSON.stringify({ eventId: '01J', eventType: 'wake/digest', logId: 1, payload: {} })
  const timestampSeconds = Math.floor(Date.now() / 1000)
  const headers = signHeaders({ body, eventId: '01J', subscriptionId: 'WAKE_SUB:1', timestampSeconds, keys: [key] })
  const wake = async (url: string, signed = headers) =>
    (await fetch(url, { method: 'POST', body, headers: signed })).status
  let hook = ''
  let early: number | undefined
  const gateway = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    if (req.method === 'POST') {
      const { harnessTargetMetadata } = JSON.parse(Buffer.concat(chunks).toString())
      if (harnessTargetMetadata) {
        hook = harnessTargetMetadata.url
        early = await wake(hook)
      }
    }
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ sessionId: 'session_1', subscriptionId: 'WAKE_SUB:1', signingKey: key }))
  })
  await once(gateway.listen(0, '127.0.0.1'), 'listening')
  atTestEnd(() => gateway.close())
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
  const harness = spawn(process.execPath, [script], { env: { ROUSE_URL: url, ROUSE_KEY: 'rk_1' } })
  atTestEnd(() => harness.kill('SIGKILL'))
  let said = ''
  harness.stdout.on('data', (text) => (said += text))
  await until(
    () => said,
    (text) => text.includes('"subscribed"'),
  )
  expect(early).toBe(503)
  expect(await wake(hook)).toBe(204)
  expect(await wake(hook, { ...headers, 'webhook-signature': 'v1,AAAA' })).toBe(401)
  harness.kill('SIGTERM')
  expect((await once(harness, 'exit'))[0]).toBe(0)
})

test('it says that it is there, what it does, and reads the mail that waited for it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' })
  await using harness = await spawnExample(gateway, donna)
  expect(harness.said('mail')).toMatchObject([{ from: '@operator', subject: 'Lunch?' }])
  const [{ sessionId }] = harness.said('started') as [{ sessionId: string }]
  const { id } = await gateway.send('donna', 'count these words')
  await until(
    async () => (await gateway.call('GET', `/v1/tasks/${id}`)).body.state,
    (state) => state === 'completed',
  )
  const { presence, session } = await until(
    async () => (await gateway.call('GET', '/v1/agents/donna')).body,
    (agent) => agent.presence.state === 'idle',
  )
  expect(presence).toMatchObject({ source: 'a2a-webhook' })
  expect(session).toMatchObject({ sessionId, surface: 'example' })
  expect(harness.said('woken').map(({ eventType }) => eventType)).toEqual(['wake/task_state_changed'])
})

// D26
test('a second one takes over from the first, whose subscription is paused', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await using first = await spawnExample(gateway, donna)
  await using second = await spawnExample(gateway, donna)
  const { id } = await gateway.send('donna', 'for the newest')
  const completed = await until(
    () => second.said('completed'),
    ({ length }) => length > 0,
  )
  expect(completed).toMatchObject([{ taskId: id }])
  expect(first.said('woken')).toEqual([])
})
