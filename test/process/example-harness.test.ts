import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { newSigningKey, signHeaders } from '../../src/webhooks/signature.ts'
import { atTestEnd } from '../support/ends.ts'

const script = fileURLToPath(new URL('../../examples/harness.mjs', import.meta.url))

// D29: what waits is sent as soon as the subscription is there, which its maker may not know yet.
test('a wake that comes before the answer of the subscription is asked for again, and not refused', async () => {
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
      hook = JSON.parse(Buffer.concat(chunks).toString()).harnessTargetMetadata.url
      early = await wake(hook)
    }
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ subscriptionId: 'WAKE_SUB:1', signingKey: key }))
  })
  await once(gateway.listen(0, '127.0.0.1'), 'listening')
  atTestEnd(() => gateway.close())
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
  const harness = spawn(process.execPath, [script], { env: { ROUSE_URL: url, ROUSE_KEY: 'rk_1' } })
  atTestEnd(() => harness.kill('SIGKILL'))
  await once(harness.stdout, 'data')
  expect(early).toBe(503)
  expect(await wake(hook)).toBe(204)
  expect(await wake(hook, { ...headers, 'webhook-signature': 'v1,AAAA' })).toBe(401)
  harness.kill('SIGTERM')
  expect((await once(harness, 'exit'))[0]).toBe(0)
})
