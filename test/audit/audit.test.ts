import { afterEach, beforeEach, expect, test } from 'vitest'
import { Audit } from '../../src/audit/audit.ts'
import { readAudit } from '../../src/audit/audit-store.ts'
import type { AuditEntry } from '../../src/audit/entry.ts'
import { printable } from '../../src/audit/printable.ts'
import { detailed, RefusedAttempts } from '../../src/audit/refused-attempts.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import type { Database } from '../../src/storage/database.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { logLines } from '../support/log-lines.ts'
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

const strangerAt = (address: string, fields: Partial<AuditEntry> = {}) =>
  entry({ project: '', actor: '', callerId: '', keyId: '', address, outcome: 'unauthenticated', ...fields })
const refusalsOf = async (what: Partial<AuditEntry>) => {
  await audit.flush()
  const found = await all(10_000)
  return found.filter((record) => Object.entries(what).every(([name, value]) => record[name as 'actor'] === value))
}

test('attempts from always new networks make a bounded number of records', async () => {
  for (let i = 0; i < 5_000; i++) audit.refuse(strangerAt(`2001:db8:0:${i.toString(16)}::1`))
  const records = await refusalsOf({})
  expect(records.length).toBe(detailed.ofProjectMax + 1)
  expect(records.find(({ address }) => address === '*')).toMatchObject({
    count: 5_000 - detailed.ofProjectMax,
    operation: '*',
    actor: '',
    keyId: '',
  })
})

// The attack: mallory has a network of addresses and no key, and hides what its other key is refused.
test('a stranger with a whole network of addresses takes no record from others', async () => {
  for (let i = 0; i < 5_000; i++) audit.refuse(strangerAt(`2001:db8::${i.toString(16)}`))
  audit.refuse(strangerAt('203.0.113.9'))
  expect(await refusalsOf({ outcome: 'unauthenticated' })).toMatchObject([
    { address: '203.0.113.9', count: 1 },
    { address: '2001:db8::0', count: 5_000 },
  ])
})

test('strangers of any number take no record from callers with a known key, and these take none from strangers', async () => {
  for (let i = 0; i < 1_000; i++) audit.refuse(strangerAt(`198.51.${i >> 8}.${i & 255}`))
  audit.refuse(entry({ actor: '@mallory', outcome: 'forbidden', operation: 'key.make' }))
  expect(await refusalsOf({ actor: '@mallory' })).toMatchObject([{ operation: 'key.make', count: 1 }])
  clock.advance(60_000)
  for (let i = 0; i < 1_000; i++)
    audit.refuse(entry({ callerId: `agent_${i}`, keyId: `key_${i}`, outcome: 'forbidden' }))
  audit.refuse(strangerAt('203.0.113.9'))
  expect(await refusalsOf({ address: '203.0.113.9' })).toMatchObject([{ count: 1, outcome: 'unauthenticated' }])
})

// The attack: mallory makes keys of its own and tries every operation with each, so that the audit has room for nobody else.
test('one agent with many keys, and one stranger, use a few records; one for their outcome counts the rest', async () => {
  for (let i = 0; i < 1_000; i++) {
    const operation = `operation.${i}`
    audit.refuse(entry({ actor: '@mallory', keyId: `key_${i % 20}`, outcome: 'forbidden', operation }))
    audit.refuse(strangerAt('203.0.113.9', { operation }))
  }
  audit.refuse(entry({ actor: '@lola', callerId: 'agent_2', keyId: 'key_of_lola', outcome: 'forbidden' }))
  for (const one of [{ actor: '@mallory' }, { address: '203.0.113.9' }]) {
    expect(await refusalsOf(one)).toHaveLength(detailed.ofCallerMax)
  }
  const rest = { actor: '', operation: '*', target: '', count: 1_000 - detailed.ofCallerMax }
  expect(await refusalsOf({ address: '*', outcome: 'forbidden' })).toMatchObject([{ project: 'default', ...rest }])
  expect(await refusalsOf({ address: '*', outcome: 'unauthenticated' })).toMatchObject([{ project: '', ...rest }])
  expect(await refusalsOf({ actor: '@lola' })).toMatchObject([{ keyId: 'key_of_lola', count: 1 }])
})

const forbiddenIn = (project: string, caller: string, fields: Partial<AuditEntry> = {}) =>
  entry({ project, actor: `@${caller}`, callerId: `agent_${caller}`, keyId: caller, outcome: 'forbidden', ...fields })

// The attack: six agents of project b with 50 keys each use up the records of a minute, and hide what another does in project a.
test('the callers of one project take no record from those of another', async () => {
  for (let i = 0; i < 300; i++) {
    audit.refuse(forbiddenIn('b', `f${Math.floor(i / 50)}`, { keyId: `key_${i}` }))
  }
  const operations = ['message.send', 'key.make', 'agent.change']
  for (let i = 0; i < 15; i++) audit.refuse(forbiddenIn('a', 'thief', { operation: operations[i % 3]! }))
  expect(
    (await refusalsOf({ project: 'a' })).map(({ actor, operation, count }) => [actor, operation, count]).sort(),
  ).toEqual([
    ['@thief', 'agent.change', 5],
    ['@thief', 'key.make', 5],
    ['@thief', 'message.send', 5],
  ])
  const ofB = await refusalsOf({ project: 'b' })
  expect(ofB).toHaveLength(detailed.ofProjectMax + 1)
  expect(ofB.filter(({ address }) => address === '*')).toMatchObject([
    { project: 'b', actor: '', callerId: '', keyId: '', operation: '*', count: 300 - detailed.ofProjectMax },
  ])
})

test('beyond the records of a project each outcome has one, and no attempt is left out of the counts', async () => {
  const outcomes = ['forbidden', 'not-found', 'quota-exceeded']
  for (let i = 0; i < 3_000; i++) audit.refuse(forbiddenIn('a', `f${i}`, { outcome: outcomes[i % 3]! }))
  const records = await refusalsOf({})
  expect(records).toHaveLength(detailed.ofProjectMax + outcomes.length)
  const rest = records.filter(({ address }) => address === '*')
  expect(rest.map(({ outcome }) => outcome).sort()).toEqual(outcomes)
  expect(records.reduce((sum, { count }) => sum + count, 0)).toBe(3_000)
  clock.advance(60_000)
  audit.refuse(forbiddenIn('a', 'thief'))
  expect(await refusalsOf({ actor: '@thief' })).toMatchObject([{ count: 1 }])
})

test('while the store accepts no writes a bounded number of records waits, and the audit counts the lost ones', async () => {
  const allow = await refuseInserts(directory.path, 'audit')
  const max = 10_000
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

// The attack: one call whose task id is a list. Its record cannot be stored, and the batch was tried again for good.
test('a record that the store refuses holds up no other: the log of the program has it, and the audit counts it', async () => {
  const { log, of } = logLines('warn')
  await using logged = new Audit({ db, clock, log })
  const records = Array.from({ length: 300 }, (_, i) => entry({ target: `MESSAGE:${i}` }))
  for (const at of [150, 200]) records[at] = entry({ target: [] as never })
  for (const record of records) logged.note(record)
  logged.refuse(entry({ outcome: 'forbidden', operation: {} as never }))
  await logged.flush()
  await logged.flush()
  const stored = await all()
  expect(stored.filter(({ operation }) => operation === 'message.send')).toHaveLength(298)
  expect(stored.find(({ operation }) => operation === 'audit.lost')).toMatchObject({ count: 3 })
  expect(of('audit.unwritten')).toMatchObject([{ records: 3, audit: { length: 3 }, err: expect.any(TypeError) }])
})

test('records without number that the store refuses cost a bounded number of tries, and are gone after some writes', async () => {
  const { log, of } = logLines('warn')
  await using logged = new Audit({ db, clock, log })
  for (let i = 0; i < 100; i++) logged.note(entry({ target: [] as never }))
  for (let i = 0; i < 100; i++) logged.note(entry({ target: `MESSAGE:${i}` }))
  const dropped = () => of('audit.unwritten').reduce((sum, { records }) => sum + records, 0)
  for (let writes = 0; dropped() < 100; writes++) {
    expect(writes).toBeLessThan(20)
    await logged.flush()
    logged.note(entry({ target: `MESSAGE:later-${writes}` }))
  }
  await logged.flush()
  const stored = (await all()).filter(({ operation }) => operation === 'message.send')
  expect(stored.filter(({ target }) => !target.includes('later'))).toHaveLength(100)
})

test('the only record of a batch waits when the store refuses it, whatever the reason', async () => {
  const allow = await refuseInserts(directory.path, 'audit')
  audit.note(entry())
  await audit.flush()
  await allow()
  await audit.flush()
  expect(await all()).toMatchObject([{ operation: 'message.send' }])
})

test('attempts that are counted while their record is being written, in the last moment of a minute, are one record', () => {
  const attempts = new RefusedAttempts()
  const attempt = entry({ outcome: 'forbidden' })
  const add = (now: number) =>
    attempts.add(attempt, now, (kept) => ({ ...kept, id: `${now}`, at: now, lastAt: now, count: 1 }))
  add(59_000)
  const taken = attempts.take(59_000)
  add(59_001)
  add(60_000)
  attempts.putBack(taken)
  expect(attempts.take(60_000).map(({ id, count }) => [id, count])).toEqual([
    ['59000', 2],
    ['60000', 1],
  ])
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
