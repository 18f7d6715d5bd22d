import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort, makeDirectory, removeDirectory, startProgram, stopProcess } from './processes.mjs'
import { Unavailable } from './unavailable.mjs'

/** Durable as it comes (fsync and synchronous_commit are on); the rest so that no checkpoint falls into a run. */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 100,
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '30min',
}

let template

/** A PostgreSQL of our own, from a cluster that is made once and copied for each start. */
export async function start() {
  const bin = findPrograms()
  const user = unprivilegedUser()
  template ??= makeCluster(bin, user)
  const directory = ownedDirectory('postgres', user)
  spawnSync('cp', ['-a', `${template}/.`, directory])
  const port = await freePort()
  const options = { ...settings, port }
  const args = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = startProgram(join(bin, 'postgres'), ['-D', directory, ...args], {
    stdio: 'ignore',
    cwd: directory,
    ...user,
  })
  const address = `postgres://postgres@127.0.0.1:${port}/postgres`
  const version = await untilReady(address)
  return {
    address,
    pid: server.pid,
    version: `PostgreSQL ${version}`,
    async stop() {
      await stopProcess(server, 'SIGINT') // a fast shutdown: clients are cut off
      removeDirectory(directory)
    },
  }
}

/**
 * Holds a transaction open that has read a row: no row that dies from now on can be removed. Returns what ends it.
 * @param text the statement that reads it
 */
export async function holdTransaction(connectionString, text) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query('begin isolation level repeatable read')
  await client.query(text)
  return () => client.end()
}

function findPrograms() {
  const installed = '/usr/lib/postgresql'
  const versions = existsSync(installed) ? readdirSync(installed).sort((a, b) => Number(b) - Number(a)) : []
  const places = [
    ...(process.env.PG_BIN ? [process.env.PG_BIN] : []),
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(installed, version, 'bin')),
  ]
  const found = places.find((place) => ['initdb', 'postgres'].every((name) => existsSync(join(place, name))))
  if (!found) throw new Unavailable('no initdb and postgres in PG_BIN, in the PATH or in /usr/lib/postgresql')
  return found
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const found = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (!found) throw new Unavailable('PostgreSQL does not run as root, and there is no user postgres or nobody')
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

function makeCluster(bin, user) {
  const directory = ownedDirectory('initdb', user)
  const args = ['-D', directory, '-U', 'postgres', '-A', 'trust', '--encoding=UTF8', '--locale=C']
  const made = spawnSync(join(bin, 'initdb'), args, { encoding: 'utf8', cwd: directory, ...user })
  if (made.status !== 0)
    throw new Unavailable(`initdb failed: ${(made.stderr ?? String(made.error)).trim().split('\n').at(-1)}`)
  return directory
}

function ownedDirectory(name, { uid, gid }) {
  const directory = makeDirectory(name)
  if (uid !== undefined) chownSync(directory, uid, gid)
  return directory
}

async function untilReady(connectionString) {
  for (let attempt = 0; attempt < 200; attempt++) {
    const client = new pg.Client({ connectionString })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query('show server_version')
      return rows[0].server_version.split(' ')[0]
    } catch {
      await sleep(50)
    } finally {
      await client.end().catch(() => {})
    }
  }
  throw new Unavailable('PostgreSQL did not start in ten seconds')
}
