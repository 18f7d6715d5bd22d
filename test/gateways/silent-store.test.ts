import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { servedMs } from '../support/served-time.ts'
import { databaseUrlFor } from '../support/store.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

test('while PostgreSQL is silent /readyz says so within seconds, with a key or without, and 200 when it answers again', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rouse-silent-'))
  const line = new URL((await databaseUrlFor(dataDir)) as string)
  await using proxy = await startTcpProxy({ host: line.hostname, port: Number(line.port || 5432) })
  line.hostname = '127.0.0.1'
  line.port = String(proxy.port)
  await using gateway = await startGateway({ dataDir, env: { ROUSE_DATABASE_URL: line.href } })
  const ask = async (key?: null) => {
    const startedAt = servedMs()
    const { status, body } = await gateway.call('GET', '/readyz', undefined, { key: key as null })
    return { status, body, ms: servedMs() - startedAt }
  }
  expect((await ask()).status).toBe(200)
  proxy.silence()
  // An answer may be a second old.
  await until(
    () => ask(null),
    ({ status }) => status === 503,
    10_000,
  )
  for (const key of [null, undefined, null]) {
    const { status, body, ms } = await ask(key as null)
    expect([status, body.store, body.writes]).toEqual([503, false, false])
    expect(ms).toBeLessThan(4_000)
  }
  proxy.accept()
  await until(
    () => ask(null),
    ({ status }) => status === 200,
    60_000,
  )
})
