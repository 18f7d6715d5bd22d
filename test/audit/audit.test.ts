import { afterEach, beforeEach, expect, test } from 'vitest'
import { Audit } from '../../src/audit/audit.ts'
import { readAudit } from '../../src/audit/audit-store.ts'
import type { AuditEntry } from '../../src/audit/entry.ts'
import { printable } from '../../src/audit/printable.ts'
import { auditLimits } from '../../src/gateway-limits.ts'
import { silentLogger } from '../../src/logger.ts'
import type { Database } from '../../src/storage/database.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { openStore, refuseInserts } from '../support/store.ts'

let directory: ReturnType<typeof dataDirectory>
let clock: FakeClock
let db: Database
let audit: Audit

beforeEach(async () => {
  directory = dataDirectory()
  clock = new FakeClock()
  db = await openStore(directory.path, clock)
  audit = new Audit({ db, clock, log: silentLogger })
})
afterEach(async () => {
  await audit[Symbol.asyncDispose]()
  await db.close()
  directory[Symbol.dispose]()
})

function entry(fields: Partial<AuditEntry> = {}): AuditEntry {
  return {
    project: 'default',
    actor: '@donna',
    callerId: 'agent_1',
    keyId: 'key_1',
    address: '127.0.0.1',
    front: 'rest',
    operation: 'message.send',
    target: 'MESSAGE:1',
    outcome: 'ok',
    ...fields,
  }
}
const all = async (limit = 500) => (await readAudit(db, { project: undefined, limit })).records

test('noted records are written 100 ms later, together and in order', async () => {
  for (let i = 0; i < 150; i++) audit.note(entry({ target: `MESSAGE:${i}` }))
  expect(await all()).toEqual([])
  clock.advance(100)
  await audit.flush()
  expect((await all()).map(({ target }) => target)).toEqual(Array.from({ length: 150 }, (_, i) => `MESSAGE:${149 - i}`))
})

test('a kept record is stored when the promise resolves', async () => {
  await audit.keep(entry({ operation: 'key.make' }))
  expect(await all()).toMatchObject([{ operation: 'key.make', at: clock.now(), lastAt: clock.now(), count: 1 }])
})

test('a flood of refused attempts is one record a minute with its count, for each key or address', async () => {
  const refused = {
    project: '',
    actor: '',
    callerId: '',
    keyId: '',
    operation: 'agent.list',
    outcome: 'unauthenticated',
  }
  for (let i = 0; i < 10_000; i++) {
    audit.refuse(entry({ ...refused, address: '203.0.113.1', target: `${i}` }))
    audit.refuse(entry({ keyId: 'key_2', outcome: 'forbidden', address: `203.0.113.${i % 200}` }))
    if (i === 5_000) await audit.flush()
  }
  await audit.flush()
  expect((await all()).map(({ outcome, count }) => [outcome, count]).sort()).toEqual([
    ['forbidden', 10_000],
    ['unauthenticated', 10_000],
  ])
  clock.advance(60_000)
  audit.refuse(entry({ ...refused, address: '203.0.113.1' }))
  await audit.flush()
  expect((await all()).map(({ count }) => count).sort()).toEqual([1, 10_000, 10_000])
})

test('attempts from always new addresses make a bounded number of records', async () => {
  for (let i = 0; i < 5_000; i++) {
    audit.refuse(entry({ keyId: '', actor: '', address: `2001:db8::${i.toString(16)}`, outcome: 'unauthenticated' }))
  }
  await audit.flush()
  const records = await all(auditLimits.refusals.max + 10)
  expect(records.length).toBe(auditLimits.refusals.max + 1)
  expect(records.find(({ address }) => address === '*')).toMatchObject({
    count: 5_000 - auditLimits.refusals.max,
    operation: '*',
    actor: '',
    keyId: '',
  })
})

test('while the store accepts no writes a bounded number of records waits, and the audit counts the lost ones', async () => {
  const allow = await refuseInserts(directory.path, 'audit')
  const { max } = auditLimits.waiting
  for (let i = 0; i < max + 500; i++) audit.note(entry({ target: `MESSAGE:${i}` }))
  audit.refuse(entry({ outcome: 'forbidden' }))
  await audit.flush()
  await expect(audit.keep(entry())).rejects.toThrow()
  for (let i = 0; i < 100; i++) audit.note(entry({ target: `MESSAGE:late-${i}` }))
  audit.refuse(entry({ outcome: 'forbidden' }))
  await audit.flush()
  await allow()
  await audit.flush()
  const newest = await all(500)
  expect(newest.find(({ operation }) => operation === 'audit.lost')).toMatchObject({ count: 600, actor: '@gateway' })
  expect(newest.find(({ outcome }) => outcome === 'forbidden')).toMatchObject({ count: 2 })
  expect(newest.filter(({ target }) => target.startsWith('MESSAGE:late-'))).toHaveLength(100)
})

test('a record has only text that can be stored and shown: no NUL, control character or half of a pair, and not too long', async () => {
  const bidi = '\u202e'
  audit.note(entry({ target: `a\u0000b\nc${bidi}d\ud800` }))
  audit.note(entry({ target: 'x'.repeat(100_000) }))
  await audit.flush()
  expect((await all()).map(({ target }) => target)).toEqual(['x'.repeat(200), 'a�b�c�d�'])
  expect(printable('héllo 😀', 200)).toBe('héllo 😀')
})

test('a page reads a bounded number of records and has a next token even if none of them matches', async () => {
  audit.note(entry({ actor: '@needle' }))
  for (let i = 0; i < 9_999; i++) audit.note(entry())
  await audit.flush()
  for (let i = 0; i < 5_000; i++) audit.note(entry())
  await audit.flush()
  for (const project of ['default', undefined]) {
    const first = await readAudit(db, { project, actor: '@needle', limit: 10 })
    expect(first.records).toEqual([])
    const second = await readAudit(db, { project, actor: '@needle', limit: 10, pageToken: first.nextPageToken })
    expect([second.records.length, second.nextPageToken]).toEqual([1, ''])
  }
})
