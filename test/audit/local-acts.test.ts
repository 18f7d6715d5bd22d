import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../cli/terminal.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { emptyPostgres } from '../support/empty-postgres.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { onPostgres, refuseInserts, runSql, storeEnv } from '../support/store.ts'
import { until } from '../support/until.ts'

const me = `${userInfo().username}@${hostname()}`

/** Runs a command of the operator on a data directory and its store. */
async function command(dataDir: string, ...argv: string[]) {
  return run(argv, { ROUSE_DATA_DIR: dataDir, ...(await storeEnv(dataDir)) })
}

async function auditOf(gateway: TestGateway) {
  const { body } = await gateway.call('GET', '/v1/audit')
  return body.records.filter(({ front }: { front: string }) => front === 'cli')
}

/** Returns the commands that a gateway knows of, once it knows of this many. */
async function acts(gateway: TestGateway, count: number, clock?: FakeClock) {
  return until(
    () => {
      clock?.advance(5_000)
      return auditOf(gateway)
    },
    (records) => records.length === count,
  )
}

const waitingIn = (dataDir: string): string[] => {
  const place = join(dataDir, 'audit-waiting')
  return existsSync(place) ? readdirSync(place) : []
}

test('a new admin key and a new card key are in the audit of a running gateway: who, what and when, and no key', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock } })
  const began = Date.now()
  expect((await command(gateway.dataDir, 'admin-key', 'rotate', '--overlap', '3600')).code).toBe(0)
  const rotated = await command(gateway.dataDir, 'card-key', 'rotate', '--json')
  const { kid } = JSON.parse(rotated.stdout)
  const records = await acts(gateway, 2, clock)
  const who = { actor: '@operator', callerId: 'operator', keyId: null, address: me, project: 'default' }
  expect(records).toMatchObject([
    { ...who, operation: 'cardKey.rotate', target: kid, outcome: 'ok', count: 1 },
    { ...who, operation: 'adminKey.rotate', target: expect.stringMatching(/^the former key ends 2/), outcome: 'ok' },
  ])
  for (const { at } of records) {
    expect(Date.parse(at)).toBeGreaterThanOrEqual(began)
    expect(Date.parse(at)).toBeLessThanOrEqual(Date.now())
  }
  const keys = ['admin.key', 'admin.key.former', 'card-signing.jwk', 'encryption.key']
  const secrets = keys.map((name) => join(gateway.dataDir, name)).filter((path) => existsSync(path))
  for (const path of secrets) {
    for (const secret of readFileSync(path, 'utf8').match(/[\w+/-]{40,}/g) ?? []) {
      // The id of the card key is public.
      if (secret !== kid) expect(JSON.stringify(records)).not.toContain(secret)
    }
  }
  expect(waitingIn(gateway.dataDir)).toEqual([])
  const admin = readFileSync(join(gateway.dataDir, 'admin.key'), 'utf8').trim()
  const shown = await run(['audit', '--operation', 'adminKey.rotate'], { ROUSE_URL: gateway.url, ROUSE_KEY: admin })
  expect(shown.stdout).toMatch(new RegExp(`@operator +- +${me} +cli +adminKey\\.rotate +ok +1 +the former key ends`))
})

test('what commands did while no gateway ran is in the audit of the next one, once', async () => {
  using directory = dataDirectory()
  await (await startGateway({ dataDir: directory.path })).stop()
  expect((await command(directory.path, 'admin-key', 'rotate')).code).toBe(0)
  const [waiting] = waitingIn(directory.path)
  expect(waiting === undefined).toBe(onPostgres)
  const path = join(directory.path, 'audit-waiting', waiting ?? '')
  const text = onPostgres ? '' : readFileSync(path, 'utf8')
  if (!onPostgres) expect(statSync(path).mode & 0o777).toBe(0o600)
  await using gateway = await startGateway({ dataDir: directory.path })
  const records = await acts(gateway, 1)
  expect(records).toMatchObject([{ operation: 'adminKey.rotate', address: me }])
  await gateway.stop()
  if (onPostgres) return
  // A crash between the record and the end of its file.
  writeFileSync(path, text, { mode: 0o600 })
  await using again = await startGateway({ dataDir: directory.path })
  await until(
    () => waitingIn(directory.path).length,
    (count) => count === 0,
  )
  expect(await auditOf(again)).toEqual(records)
})

test.skipIf(onPostgres)('a file that is no record is named in the log, and keeps no others back', async () => {
  using directory = dataDirectory()
  await (await startGateway({ dataDir: directory.path })).stop()
  expect((await command(directory.path, 'admin-key', 'rotate')).code).toBe(0)
  const broken = `${'0'.repeat(26)}.json`
  writeFileSync(join(directory.path, 'audit-waiting', broken), '{"id":', { mode: 0o600 })
  const { log, lines } = logLines('warn')
  await using gateway = await startGateway({ dataDir: directory.path, overrides: { log } })
  expect(await acts(gateway, 1)).toMatchObject([{ operation: 'adminKey.rotate' }])
  await until(
    () => lines,
    (logged) => logged.some((line) => String(line.err).includes(broken)),
  )
  expect(waitingIn(directory.path)).toEqual([broken])
})

test('sealing everything again is in the audit, with the id of the key and how it ended', async () => {
  using directory = dataDirectory()
  const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map((key) => key.toString('base64'))
  const [first, second] = keys as [string, string]
  const start = (list: string) => startGateway({ dataDir: directory.path, env: { ROUSE_ENCRYPTION_KEY: list } })
  const rekey = async (list: string, ...flags: string[]) =>
    run(['rekey', '--json', ...flags], {
      ROUSE_DATA_DIR: directory.path,
      ...(await storeEnv(directory.path)),
      ROUSE_ENCRYPTION_KEY: list,
    })
  const before = await start(first)
  await before.subscribe(await before.addAgent('donna'), 'http://127.0.0.1:9/')
  await before.stop()
  expect((await rekey(second)).code).toBe(1)
  const { keyId } = JSON.parse((await rekey(`${second} ${first}`)).stdout)
  expect((await rekey(second, '--abandon-lost')).code).toBe(0)
  await using after = await start(second)
  expect(await acts(after, 3)).toMatchObject([
    { operation: 'store.rekey', target: `${keyId}, lost keys abandoned`, outcome: 'ok', address: me },
    { operation: 'store.rekey', target: keyId, outcome: 'ok' },
    { operation: 'store.rekey', target: keyId, outcome: 'incomplete' },
  ])
  expect(JSON.stringify(await auditOf(after))).not.toContain(second)
})

test('a move to PostgreSQL is in the audit there, without the password, and so is what commands did before it', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await (await startGateway({ dataDir: directory.path, env: { ROUSE_DATABASE_URL: '' } })).stop()
  const old = { ROUSE_DATA_DIR: directory.path, ROUSE_DATABASE_URL: '' }
  expect((await run(['card-key', 'rotate'], old)).code).toBe(0)
  const moved = await run(['migrate', '--from', 'sqlite', '--to', 'postgres'], {
    ...old,
    ROUSE_DATABASE_URL: empty.url,
  })
  expect(moved.code, moved.stderr).toBe(0)
  const rows = await runSql(empty.url, `select * from audit where front = 'cli' order by id`)
  expect(rows).toMatchObject([
    { operation: 'cardKey.rotate', actor: '@operator', address: me, outcome: 'ok', project_id: 'default' },
    { operation: 'store.migrate', actor: '@operator', address: me, outcome: 'ok', project_id: 'default' },
  ])
  const { hostname: host, port, pathname } = new URL(empty.url)
  expect(rows[1]!.target).toBe(`${host}${port ? `:${port}` : ''}${pathname}`)
  expect(waitingIn(directory.path)).toEqual([])
})

test('a command whose act cannot be recorded says that it is done', async () => {
  await using gateway = await startGateway()
  if (onPostgres) await refuseInserts(gateway.dataDir, 'audit')
  else writeFileSync(join(gateway.dataDir, 'audit-waiting'), '')
  const before = readFileSync(join(gateway.dataDir, 'admin.key'), 'utf8')
  const { code, stderr } = await command(gateway.dataDir, 'admin-key', 'rotate')
  expect(code).toBe(1)
  expect(stderr).toContain('This was done, but the audit could not record it: adminKey.rotate')
  expect(readFileSync(join(gateway.dataDir, 'admin.key'), 'utf8')).not.toBe(before)
})
