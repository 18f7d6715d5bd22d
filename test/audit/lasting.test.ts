import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { besideStore, refuseInserts } from '../support/store.ts'
import { until } from '../support/until.ts'

const day = 24 * 60 * 60 * 1000

test('waiting records are written when the gateway stops', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rouse-test-'))
  const gateway = await startGateway({ dataDir })
  const donna = await gateway.addAgent('donna')
  const task = await gateway.send('donna', 'hello', { key: donna.key })
  await gateway.stop()
  const rows = await besideStore(dataDir, "select target from audit where operation = 'SendMessage'")
  expect(rows).toEqual([{ target: task.id }])
  rmSync(dataDir, { recursive: true, force: true })
})

test('a change that the audit cannot record is not answered as done; other work continues and is recorded later', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const allow = await refuseInserts(gateway.dataDir, 'audit')
  const { status, body } = await gateway.call('POST', '/v1/agents/donna/keys', {}, donna)
  expect([status, body.code, 'apiKey' in body]).toEqual([503, 'storage-unavailable', false])
  expect(body.detail).toMatch(/was done, but the audit could not record it/)
  const task = await gateway.send('donna', 'hello', { key: donna.key })
  expect(task.id).toBeTruthy()
  await allow()
  await until(
    () => besideStore(gateway.dataDir, "select target from audit where operation = 'SendMessage'"),
    (rows) => rows.length === 1,
  )
})

test('it is kept for a year, whatever else is pruned, and then removed', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await gateway.addAgent('donna')
  const audited = async () => (await besideStore(gateway.dataDir, 'select operation from audit')).length
  const events = async () => (await besideStore(gateway.dataDir, 'select log_id from event')).length
  const afterStep = async (count: () => Promise<number>) => {
    clock.advance(60_000)
    await gateway.call('GET', '/healthz')
    return count()
  }
  expect(await audited()).toBe(1)
  clock.advance(300 * day)
  await until(
    () => afterStep(events),
    (count) => count === 0,
  )
  expect(await audited()).toBe(1)
  clock.advance(66 * day)
  await until(
    () => afterStep(audited),
    (count) => count === 0,
  )
})

test('ROUSE_AUDIT_RETENTION_DAYS sets how long the audit is kept', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock }, env: { ROUSE_AUDIT_RETENTION_DAYS: '2' } })
  await gateway.addAgent('donna')
  clock.advance(3 * day)
  const audited = async () => {
    clock.advance(60_000)
    await gateway.call('GET', '/healthz')
    return (await besideStore(gateway.dataDir, 'select operation from audit')).length
  }
  await until(audited, (count) => count === 0)
})

test('a trusted proxy names the client’s address; other proxies are not believed', async () => {
  const addressOf = async (trusted: string, forwarded: string) => {
    await using gateway = await startGateway({ env: { ROUSE_TRUSTED_PROXIES: trusted } })
    await gateway.call('POST', '/v1/agents', { handle: 'donna' }, { headers: { 'X-Forwarded-For': forwarded } })
    const [row] = await besideStore(gateway.dataDir, 'select address from audit')
    return row?.address
  }
  expect(await addressOf('127.0.0.0/8', '1.2.3.4, 198.51.100.7')).toBe('198.51.100.7')
  expect(await addressOf('', '198.51.100.7')).toBe('127.0.0.1')
  expect(await addressOf('10.0.0.0/8', '198.51.100.7')).toBe('127.0.0.1')
})

test('mail that went along with an answer which is withheld waits again', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/sessions', { surface: 'test' }, donna)
  const allow = await refuseInserts(gateway.dataDir, 'audit')
  await gateway.call('POST', '/v1/messages', { to: 'donna', subject: 'do not lose me' })
  expect((await gateway.call('POST', '/v1/agents/donna/keys', {}, donna)).status).toBe(503)
  await allow()
  await until(
    async () => (await gateway.call('GET', '/v1/agents', undefined, donna)).body.pendingSignals ?? [],
    (signals) => signals.length === 1,
  )
})
