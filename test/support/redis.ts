import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { dataDirectory } from './data-directory.ts'

/** True when this machine has a Redis to test with. Where ROUSE_TEST_REQUIRE_REDIS is set, its absence is a failure. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0
if (!hasRedis) {
  const words = 'redis-server is not installed: what needs a Redis is not tested here.'
  if (process.env.ROUSE_TEST_REQUIRE_REDIS) throw new Error(words)
  console.warn(words)
}

interface RedisServer extends AsyncDisposable {
  readonly url: string
  start(): Promise<void>
  /** As if the machine had gone: nothing is said to anybody. */
  kill(): Promise<void>
}

/** A Redis of the test's own, not started yet. */
export async function redisServer(): Promise<RedisServer> {
  const directory = dataDirectory()
  const port = await freePort()
  let running: ReturnType<typeof spawn> | undefined
  const kill = async () => {
    if (!running) return
    const ended = once(running, 'exit')
    running.kill('SIGKILL')
    await ended
    running = undefined
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const args = [
        '--port',
        `${port}`,
        '--bind',
        '127.0.0.1',
        '--save',
        '',
        '--appendonly',
        'no',
        '--dir',
        directory.path,
      ]
      running = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
      let said = ''
      for await (const chunk of running.stdout!) {
        said += chunk
        if (said.includes('Ready to accept connections')) break
      }
    },
    kill,
    async [Symbol.asyncDispose]() {
      await kill()
      directory[Symbol.dispose]()
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
