import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { writersOf } from '../fronts/every-front.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway } from '../support/gateway.ts'
import { databaseUrlFor, runSql } from '../support/store.ts'
import { until } from '../support/until.ts'

test('a PostgreSQL that accepts no writes makes the gateway not ready, until it accepts them again', async () => {
  using store = dataDirectory()
  const admin = (await databaseUrlFor(store.path)) as string
  const role = `reader_${randomBytes(4).toString('hex')}`
  await runSql(admin, `create role ${role} superuser login`)
  const url = new URL(admin)
  url.username = role
  /** As a primary that becomes a standby: open connections end, and new ones find it read-only. */
  const alterRole = async (change: string): Promise<void> => {
    await runSql(admin, `alter role ${role} ${change}`)
    await runSql(admin, `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`)
  }
  const gateway = await startGateway({ env: { ROUSE_DATABASE_URL: url.href } })
  const untilReady = (status: number) =>
    until(
      () => gateway.call('GET', '/readyz'),
      (answer) => answer.status === status && answer.body.store === true,
    )
  try {
    const writers = await writersOf(gateway)
    expect((await untilReady(200)).body).toMatchObject({
      status: 'ready',
      store: true,
      writes: true,
      dispatcher: true,
      clock: true,
    })
    await alterRole('set default_transaction_read_only = on')
    expect((await untilReady(503)).body).toMatchObject({ status: 'not-ready', store: true, writes: false })
    await writers.refused()
    await alterRole('reset default_transaction_read_only')
    expect((await untilReady(200)).body).toMatchObject({ writes: true, dispatcher: true })
    await writers.served()
  } finally {
    await gateway[Symbol.asyncDispose]()
    await runSql(admin, `drop owned by ${role}; drop role ${role}`).catch(() => {})
  }
})
