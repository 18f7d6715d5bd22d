import Sqlite from 'better-sqlite3'
import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { pruneEvents } from '../../src/log/retention.ts'
import { SqliteDatabase } from '../../src/storage/sqlite/sqlite-database.ts'
import { pruneDeliveries } from '../../src/wakes/delivery-store.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

afterEach(() => void vi.restoreAllMocks())

/** Small tables that only an operator's list or a start reads whole. */
const mayScan = [
  /from subscription where project_id =/,
  /update subscription set lease_owner = null, due_at = \? where lease_owner is not null/,
  /from permission where project_id =/,
  /schema_migration/,
  /from project$/,
]

test('no statement that the gateway runs reads a table whole', async () => {
  const prepare = vi.spyOn(Sqlite.prototype, 'prepare')
  await using gateway = await startGateway()
  await useEverything(gateway)
  await gateway.stop()
  await pruneEverything(gateway.dataDir)
  const texts = new Set(prepare.mock.calls.map(([text]) => text.trim()))
  vi.restoreAllMocks()

  using db = closing(new Sqlite(`${gateway.dataDir}/rouse.db`, { readonly: true }))
  const scans: string[] = []
  for (const text of texts) {
    if (!/^(select|insert|update|delete)\b/i.test(text) || mayScan.some((known) => known.test(text))) continue
    const bind = new Array(text.split('?').length - 1).fill(null)
    const plan = db.raw.prepare(`explain query plan ${text}`).all(...bind) as { detail: string }[]
    for (const { detail } of plan) {
      // A subquery's own rows, at most a page of them, are read whole by intent.
      if (/^SCAN (?!newest\b|\(subquery)/.test(detail)) scans.push(`${detail}: ${text}`)
      if (/TEMP B-TREE FOR ORDER BY/.test(detail) && /from task where/.test(text) && !/where id in/.test(text))
        scans.push(`${detail}: ${text}`)
    }
  }
  expect(texts.size).toBeGreaterThan(50)
  expect(scans).toEqual([])
})

async function useEverything(gateway: TestGateway): Promise<void> {
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna', { aliases: ['d'] })
  const mike = await gateway.addAgent('mike')
  const sub = await gateway.subscribe(donna, receiver.url)
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const task = await gateway.send('donna', 'hello', { key: mike.key, headers: { 'Idempotency-Key': 'k' } })
  await receiver.waitFor(1)
  await gateway.call('POST', `/v1/tasks/${task.id}/artifacts`, { artifact: { parts: [{ text: 'a' }] } }, donna)
  await gateway.move(donna, task.id, 'input-required', { message: 'which?' })
  await gateway.send('donna', 'that', { key: mike.key, message: { taskId: task.id } })
  await gateway.move(donna, task.id, 'completed')
  for (const query of ['', '?state=submitted', '?role=originator', '?role=originator&state=working', '?contextId=x']) {
    for (const key of [donna.key, gateway.adminKey]) {
      const { body } = await gateway.call('GET', `/v1/tasks${query}`, undefined, { key })
      const next = `${query ? `${query}&` : '?'}pageToken=${Buffer.from(`1/${task.id}`).toString('base64url')}`
      await gateway.call('GET', `/v1/tasks${next}`, undefined, { key })
      if (!body.tasks) throw new Error(JSON.stringify(body))
    }
  }
  await gateway.call('POST', '/v1/permissions', { grantee: 'mike', scope: 'CAN_REPLY_TO' }, donna)
  const paths = ['agents', 'agents/donna', 'agents/donna/keys', 'permissions', 'events', `tasks/${task.id}`]
  for (const path of [...paths, 'wake-subscriptions', `wake-subscriptions/${sub.id}/deliveries`, 'catalog']) {
    for (const key of [donna.key, gateway.adminKey]) await gateway.call('GET', `/v1/${path}`, undefined, { key })
  }
  await gateway.call('POST', `/v1/wake-subscriptions/${sub.id}/resync`, { sinceLogId: 0 }, donna)
  await gateway.call('PATCH', `/v1/wake-subscriptions/${sub.id}`, { status: 'paused' }, donna)
  await gateway.call('DELETE', '/v1/agents/donna')
}

async function pruneEverything(dataDir: string): Promise<void> {
  await using db = SqliteDatabase.open(dataDir, systemClock)
  const { signal } = new AbortController()
  const tomorrow = Date.now() + 86_400_000
  expect(await pruneEvents(db, tomorrow, signal)).toBeGreaterThan(0)
  await pruneDeliveries(db, tomorrow, signal)
}

function closing(raw: Sqlite.Database): Disposable & { readonly raw: Sqlite.Database } {
  return { raw, [Symbol.dispose]: () => void raw.close() }
}
