import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { atFileEnd } from './ends.ts'
import { startPostgres } from './postgres-server.ts'
import { runSql } from './store.ts'

let server: Promise<{ url: string; stop(): Promise<void> }> | undefined

function startForThisFile(): Promise<{ url: string; stop(): Promise<void> }> {
  const started = startPostgres()
  atFileEnd(async () => {
    server = undefined
    await (await started).stop()
  })
  return started
}

/** A database with nothing in it, which goes when the test is over: on this run's server, else on one of this file's own. */
export async function emptyPostgres(): Promise<AsyncDisposable & { readonly url: string }> {
  const given = process.env.ROUSE_TEST_DATABASE_URL ?? inject('databaseUrl')
  server ??= given ? Promise.resolve({ url: given, stop: async () => {} }) : startForThisFile()
  const { url } = await server
  const name = `rouse_empty_${randomBytes(4).toString('hex')}`
  await runSql(url, `create database ${name} encoding 'UTF8' template template0`)
  const own = new URL(url)
  own.pathname = `/${name}`
  own.search = ''
  return {
    url: own.href,
    [Symbol.asyncDispose]: async () => void (await runSql(url, `drop database ${name} with (force)`)),
  }
}
