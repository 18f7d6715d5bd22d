import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { until } from '../support/until.ts'
import type { Run } from './run.ts'

/** A bridge whose agent has a command for its wakes: its key, its configuration, its journal, and what it prints. */
export async function runBridge(run: Run, adminKey: string, sender: string): Promise<void> {
  const key = (await run.call('POST', '/v1/agents', { handle: 'eve' }, adminKey, 'apiKey')).apiKey
  const inCommand = run.watch.secret('a secret in a command of the bridge', randomBytes(24).toString('base64url'))
  const home = join(run.scratch, 'home')
  const project = join(home, 'project')
  for (const name of ['.config/rouse', 'project']) mkdirSync(join(home, name), { recursive: true, mode: 0o700 })
  const configure = (name: string, value: object) =>
    writeFileSync(join(home, '.config/rouse', name), JSON.stringify(value), { mode: 0o600 })
  const profile = (secret: string) =>
    configure('profiles.json', {
      current: 'eve',
      profiles: { eve: { url: run.gateway.url, key: secret, identity: '@eve' } },
    })
  profile(key)
  configure('bridge.json', {
    agents: [{ profile: 'eve', harnesses: ['exec'], directories: [project], triggers: ['SENT_TO_ME'] }],
    adapters: { exec: { command: `test -n "$ROUSE_KEY" && test ${inCommand} && touch woken` } },
  })
  const env = { HOME: home, ROUSE_URL: '', XDG_STATE_HOME: join(home, 'state') }

  const argv = ['bridge']
  await using bridge = run.start(argv, env)
  await until(bridge.output, ({ stderr }) => stderr.includes('@eve: connected'))
  await run.call('POST', '/v1/messages', { to: '@eve', subject: 'Wake up' }, sender)
  await until(bridge.output, ({ stdout }) => / delivered /.test(stdout))
  for (const command of [['bridge', 'status'], ['bridge', 'status', '--json'], ['doctor'], ['bridge']]) {
    await run.rouse(command, env)
  }
  bridge.kill('SIGINT')
  expect((await run.exit(argv, bridge)).code).toBe(130)
  await run.rouse(['bridge', 'status', '--json'], env)
  run.files(home, /^(profiles|bridge)\.json/)
}
