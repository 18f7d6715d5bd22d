import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HostsFile, parseHosts } from '../../src/security/hosts-file.ts'
import { NameResolver } from '../../src/security/name-resolver.ts'
import type { AskName } from '../../src/security/name-servers.ts'
import { startNameServer } from '../support/name-server.ts'
import { servedMs } from '../support/served-time.ts'
import { until } from '../support/until.ts'
import { errorOf, found, noHosts, onCleanup, payer } from './receivers.ts'

const mallory = { projectId: 'default', agentId: 'agent_mallory' }
const v4 = (address: string) => ({ address, family: 4 })

test('a name has the addresses of both families, of a real name server', async () => {
  await using server = await startNameServer((name) =>
    name === 'hook.test' ? ['192.0.2.7', '2001:db8::7', '192.0.2.8'] : 'no such name',
  )
  const names = new NameResolver({ ...server.names, hosts: noHosts })
  expect(await names.resolve('Hook.Test.', payer)).toEqual([
    v4('192.0.2.7'),
    v4('192.0.2.8'),
    { address: '2001:db8::7', family: 6 },
  ])
  expect(await errorOf(names.resolve('other.test', payer))).toMatchObject({ kind: 'dns' })
})

test('a name of one family is a name', async () => {
  await using server = await startNameServer((name) => (name === 'six.test' ? ['2001:db8::6'] : ['192.0.2.4']))
  const names = new NameResolver({ ...server.names, hosts: noHosts })
  expect(await names.resolve('six.test', payer)).toEqual([{ address: '2001:db8::6', family: 6 }])
  expect(await names.resolve('four.test', payer)).toEqual([v4('192.0.2.4')])
})

test('a look-up ends after five seconds without an answer, with the error dns', async () => {
  await using server = await startNameServer(() => 'silence')
  const names = new NameResolver({ ...server.names, hosts: noHosts })
  const [startedAt, servedAt] = [performance.now(), servedMs()]
  expect(await errorOf(names.resolve('slow.test', payer))).toMatchObject({ kind: 'dns' })
  expect(performance.now() - startedAt).toBeGreaterThan(1_400)
  expect(servedMs() - servedAt).toBeLessThan(8_000)
})

test('40 names whose server never answers leave places for other agents: one agent has 8 look-ups at a time', async () => {
  await using server = await startNameServer((name) => (name.startsWith('slow') ? 'silence' : ['127.0.0.1']))
  const names = new NameResolver({ ...server.names, hosts: noHosts })
  const stops = Array.from({ length: 40 }, () => new AbortController())
  const slow = stops.map(({ signal }, i) => errorOf(names.resolve(`slow${i}.test`, mallory, signal)))
  await until(
    () => new Set(server.queries).size,
    (count) => count === 8,
  )
  // The only answers that come are the victim's.
  for (let i = 0; i < 20; i++) expect(await names.resolve(`victim${i}.test`, payer)).toEqual([v4('127.0.0.1')])
  expect(new Set(server.queries.filter((name) => name.startsWith('slow'))).size).toBe(8)
  for (const stop of stops) stop.abort()
  for (const error of await Promise.all(slow)) expect(error.kind).toBe('aborted')
})

test('closing ends every look-up at once', async () => {
  await using server = await startNameServer(() => 'silence')
  const names = new NameResolver({ ...server.names, hosts: noHosts })
  const asking = errorOf(names.resolve('slow.test', payer))
  await until(
    () => server.queries.length,
    (count) => count > 0,
  )
  const startedAt = servedMs()
  names.close()
  await asking
  expect(servedMs() - startedAt).toBeLessThan(1_000)
})

test('a look-up that finds no place in time is busy, not unresolved', async () => {
  const names = new NameResolver({ ask: () => new Promise(() => {}), hosts: noHosts, lookupWaitMs: 20 })
  for (let i = 0; i < 8; i++) void names.resolve(`slow${i}.test`, mallory)
  expect(await errorOf(names.resolve('slow8.test', mallory))).toMatchObject({ kind: 'busy' })
})

test('concurrent look-ups of one name are one query, for all agents', async () => {
  const answers: ((answer: Awaited<ReturnType<AskName>>) => void)[] = []
  const ask: AskName = () => new Promise((resolve) => answers.push(resolve))
  const names = new NameResolver({ ask, hosts: noHosts })
  const both = [names.resolve('hook.test', mallory), names.resolve('hook.test', payer)]
  await until(
    () => answers.length,
    (count) => count === 1,
  )
  answers[0]!(found(['192.0.2.1']))
  expect(await Promise.all(both)).toEqual([[v4('192.0.2.1')], [v4('192.0.2.1')]])
  expect(answers).toHaveLength(1)
})

test('answers are cached as long as the name server says, at least a second and at most half a minute', async () => {
  let now = 0
  let queries = 0
  const ask: AskName = async (name) => {
    queries++
    return found(['192.0.2.1'], name === 'brief.test' ? 0 : 86_400)
  }
  const names = new NameResolver({ ask, hosts: noHosts, now: () => now })
  const queriesAt = async (at: number, name: string) => {
    now = at
    await names.resolve(name, payer)
    return queries
  }
  expect(await queriesAt(0, 'brief.test')).toBe(1)
  expect(await queriesAt(999, 'brief.test')).toBe(1)
  expect(await queriesAt(1_000, 'brief.test')).toBe(2)
  expect(await queriesAt(1_000, 'long.test')).toBe(3)
  expect(await queriesAt(30_999, 'long.test')).toBe(3)
  expect(await queriesAt(31_000, 'long.test')).toBe(4)
})

test('a name that does not resolve is looked up again after a second', async () => {
  let now = 0
  let queries = 0
  const ask: AskName = () => Promise.reject(new Error(`ENOTFOUND ${++queries}`))
  const names = new NameResolver({ ask, hosts: noHosts, now: () => now })
  await errorOf(names.resolve('absent.test', payer))
  await errorOf(names.resolve('absent.test', payer))
  expect(queries).toBe(1)
  now = 1_000
  await errorOf(names.resolve('absent.test', payer))
  expect(queries).toBe(2)
})

test('the hosts file comes before the name servers, and is read again when it changes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rouse-hosts-'))
  onCleanup(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'hosts')
  let now = 0
  writeFileSync(path, '192.0.2.1 hook hook.test\n')
  const ask: AskName = async () => found(['203.0.113.9'])
  const names = new NameResolver({ ask, hosts: new HostsFile(path, () => now) })
  expect(await names.resolve('HOOK', payer)).toEqual([v4('192.0.2.1')])
  expect(names.isKnown('hook.test')).toBe(true)
  writeFileSync(path, '192.0.2.22 hook.test\n')
  now = 5_000
  expect(await names.resolve('hook.test', payer)).toEqual([v4('192.0.2.22')])
  expect(await names.resolve('hook', payer)).toEqual([v4('203.0.113.9')])
})

test('a hosts file has comments, both families, several names a line and several lines a name', () => {
  const text = '# all\r\n127.0.0.1\tlocalhost  Me # me\r\n::1 localhost\nnot-an-address x\n\n10.0.0.1'
  expect(parseHosts(text)).toEqual(
    new Map([
      ['localhost', [v4('127.0.0.1'), { address: '::1', family: 6 }]],
      ['me', [v4('127.0.0.1')]],
    ]),
  )
})
