import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, test } from 'vitest'
import { callUntilSent } from '../../../../src/fronts/mcp/http/caller-server.ts'

/** A server whose answers carry mail; `/lost` does not send them. Returns how often mail was given back. */
async function serve() {
  const returned: string[] = []
  const app = express()
  app.get('/:what', async (req, res) => {
    const pendingSignals = [{ signal_id: req.params.what }]
    const returnMail = () => void returned.push(req.params.what)
    const call = callUntilSent(async () => ({ status: 200, headers: {}, body: { pendingSignals }, returnMail }), res)
    await call({ method: 'GET', path: '/v1/whoami' })
    if (req.params.what === 'lost') res.destroy()
    else res.json({})
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, returned, [Symbol.asyncDispose]: async () => void server.close() }
}

// S2-14
test('mail of an answer that is not sent waits again, and of one that is sent does not', async () => {
  await using served = await serve()
  await (await fetch(`${served.url}/sent`)).text()
  await expect(fetch(`${served.url}/lost`)).rejects.toThrow()
  expect(served.returned).toEqual(['lost'])
})
