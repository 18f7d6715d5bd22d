import { spawnSync } from 'node:child_process'
import pg from 'pg'
import { adminKey, encryptionKey, rouseMain } from './rouse.mjs'

/** Copies a store on SQLite into a new database of a server, and counts it as a server does after a while. Returns the URL of the database. */
export async function migrateStore(dataDir, address, database) {
  const url = new URL(address)
  await ask(address, `create database ${database}`)
  url.pathname = `/${database}`
  const args = ['migrate', '--from', 'sqlite', '--to', 'postgres', '--data-dir', dataDir, '--database-url', url.href]
  const env = { ...process.env, ROUSE_ADMIN_KEY: adminKey, ROUSE_ENCRYPTION_KEY: encryptionKey }
  const { status, stderr } = spawnSync(process.execPath, [rouseMain, ...args], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`rouse migrate failed: ${stderr.trim().split('\n').at(-1)}`)
  await ask(url.href, 'analyze')
  return url.href
}

async function ask(connectionString, text) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(text)
  await client.end()
}
