import { spawnSync } from 'node:child_process'
import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, makeDirectory, removeDirectory, startProgram, stopProcess } from './processes.mjs'
import { Unavailable } from './unavailable.mjs'

/** A Redis of our own: append-only file, and nothing else that writes to the disk. `appendfsync`: always | everysec. */
export async function start({ appendfsync }) {
  const version = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  if (version.status !== 0) throw new Unavailable('no redis-server in the PATH')
  const directory = makeDirectory('redis')
  const port = await freePort()
  const settings = { port, bind: '127.0.0.1', dir: directory, appendonly: 'yes', appendfsync, save: '' }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const server = startProgram('redis-server', args, { stdio: 'ignore' })
  await untilListening(port)
  return {
    address: { host: '127.0.0.1', port },
    pid: server.pid,
    version: `Redis ${/v=([\d.]+)/.exec(version.stdout)?.[1]}`,
    async stop() {
      await stopProcess(server)
      removeDirectory(directory)
    },
  }
}

async function untilListening(port) {
  for (let attempt = 0; attempt < 200; attempt++) {
    const connected = await new Promise((resolve) => {
      const socket = createConnection(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (connected) return
    await sleep(50)
  }
  throw new Unavailable('redis-server did not start in ten seconds')
}
