import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import { askStatus } from '../../src/bridge/local/ask-bridge.ts'
import type { BridgeStatus } from '../../src/bridge/run/status.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { atTestEnd } from '../support/ends.ts'
import { startGateway } from '../support/gateway.ts'
import { runRouse } from '../support/process-gateway.ts'
import { buildWords } from '../support/program/rouse-words.ts'
import { until } from '../support/until.ts'

async function connect(env: Record<string, string>): Promise<Client> {
  const args = [...buildWords(), 'mcp', '--bridge']
  const client = new Client({ name: 'a-client', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' }))
  atTestEnd(() => client.close())
  return client
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`)

test.runIf(process.platform === 'linux')(
  'with --bridge two harnesses that start at once have one bridge, which outlives them and says in a file what it does',
  async () => {
    const home = dataDirectory()
    await using gateway = await startGateway()
    const { key } = await gateway.addAgent('donna')
    const at = (...names: string[]) => join(home.path, ...names)
    for (const name of ['.config/rouse', 'project']) mkdirSync(at(name), { recursive: true, mode: 0o700 })
    const donna = { url: gateway.url, key, identity: '@donna' }
    const write = (name: string, value: object) =>
      writeFileSync(at('.config/rouse', name), JSON.stringify(value), { mode: 0o600 })
    write('profiles.json', { current: 'donna', profiles: { donna } })
    write('bridge.json', { agents: [{ profile: 'donna', harnesses: ['claude'], directories: [at('project')] }] })
    const env = { PATH: process.env.PATH ?? '', HOME: home.path }
    const clients = await Promise.all([connect(env), connect(env)])
    const status = await until(
      async () => (await askStatus(env)) as BridgeStatus | undefined,
      (found) => found?.agents[0]?.state === 'connected',
    )
    const pid = status!.pid!
    atTestEnd(async () => {
      if (isAlive(pid)) process.kill(pid, 'SIGTERM')
      await until(
        () => isAlive(pid),
        (is) => !is,
      )
      home[Symbol.dispose]()
    })
    await Promise.all(clients.map((client) => client.close()))
    const log = () => readFileSync(at('.local/state/rouse/bridge.log'), 'utf8')
    await using another = runRouse(['bridge'], env, buildWords())
    expect((await another.exited).stderr).toContain('Another bridge of this user')
    expect(log()).toContain('@donna: connected')
    expect(log()).not.toContain(key)
    expect(((await askStatus(env)) as BridgeStatus).pid).toBe(pid)
  },
  60_000,
)
