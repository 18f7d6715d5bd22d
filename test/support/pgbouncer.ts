import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataDirectory } from './data-directory.ts'
import { freePort } from './process-gateway.ts'

/** True when this machine has a PgBouncer to test with. */
export const hasPgBouncer = spawnSync('pgbouncer', ['--version']).status === 0
if (!hasPgBouncer) console.warn('pgbouncer is not installed: what needs a pooler is not tested here.')

/** A pooler of the test's own before the database of a URL. Returns the URL that leads through it. */
export async function startPgBouncer(databaseUrl: string, settings: readonly string[]) {
  const { hostname, port, pathname, username } = new URL(databaseUrl)
  const directory = dataDirectory()
  const name = pathname.slice(1)
  const listenPort = await freePort()
  const file = join(directory.path, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `${name} = host=${hostname} port=${port} dbname=${name} user=${username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    ...settings,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  chmodSync(directory.path, 0o755)
  // It does not run as root.
  const user = process.getuid?.() === 0 ? ['--user', 'nobody'] : []
  const running = spawn('pgbouncer', [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(running, 'exit')
  for await (const line of running.stderr) if (String(line).includes('process up')) break
  return {
    url: `postgres://${username}@127.0.0.1:${listenPort}/${name}`,
    async [Symbol.asyncDispose]() {
      running.kill('SIGKILL')
      await ended
      directory[Symbol.dispose]()
    },
  }
}
