import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

const header = 'Rouse-Pending-Signals'

// D11, S2-14
test('a call that counts or takes no mail marks nothing; the next call of the harness gets it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const ask = (path: string, wanted?: string) =>
    gateway.call('GET', path, undefined, { key: donna.key, headers: wanted === undefined ? {} : { [header]: wanted } })
  await gateway.call('POST', '/v1/sessions', { surface: 'cursor' }, { key: donna.key })
  const sent = await gateway.call('POST', '/v1/messages', { to: 'donna', subject: 'one' })
  await gateway.call('POST', '/v1/messages', { to: 'donna', subject: 'quiet', wakePolicy: 'silent' })
  for (const wanted of ['count', 'none', 'Count']) {
    const { body, headers } = await ask('/v1/agents', wanted)
    expect(body).not.toHaveProperty('pendingSignals')
    expect(headers.get(header)).toBe(wanted === 'none' ? null : '1')
  }
  const { body } = await gateway.call('GET', `/v1/messages/${sent.body.messageId}`)
  expect(body.recipients).toMatchObject([{ receipt: expect.stringMatching(/accepted|routed/), deliveryMethod: null }])
  expect((await ask('/v1/agents')).body.pendingSignals).toMatchObject([{ subject: 'one' }])
  expect((await ask('/v1/agents', 'count')).headers.get(header)).toBe('0')
})

test('mail is counted without a session too, for a key that may read, and at most to a hundred', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const keyWith = async (scopes: string[]) =>
    (await gateway.call('POST', '/v1/agents/donna/keys', { scopes }, { key: donna.key })).body.apiKey as string
  const countAs = async (key: string) =>
    (await gateway.call('GET', '/v1/whoami', undefined, { key, headers: { [header]: 'count' } })).headers.get(header)
  const mails = Array.from({ length: 101 }, (_, n) => ({ to: 'donna', subject: `m${n}` }))
  await Promise.all(mails.map((mail) => gateway.call('POST', '/v1/messages', mail)))
  expect(await countAs(await keyWith(['read']))).toBe('100')
  expect(await countAs(await keyWith(['send']))).toBeNull()
  expect(await countAs(gateway.adminKey)).toBeNull()
})

test('another word in the header is refused with its name', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { status, body } = await gateway.call('GET', '/v1/agents', undefined, {
    key: donna.key,
    headers: { [header]: 'non' },
  })
  expect([status, body]).toEqual([400, expect.objectContaining({ code: 'invalid-request', field: header })])
})
