import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeProfiles } from '../../../src/client/profile-file.ts'
import { run, start } from '../../cli/terminal.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { workplace } from '../run/bridge-desk.ts'
import { replOf } from './repl.ts'

test('rouse recovery prove starts the harness by the recipe of the configuration, and rouse bridge status shows it', async () => {
  using home = dataDirectory()
  await using gateway = await startGateway()
  const { key } = await gateway.addAgent('donna')
  const env = { HOME: home.path, PATH: join(home.path, 'bin') }
  const profile = { url: gateway.url, key, identity: '@donna' }
  writeProfiles({ current: 'donna', byName: new Map([['donna', profile]]) }, env)
  expect(await run(['recovery', 'prove', '@donna'], env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'No bridge of this user answers. Start it where the harness is to run: rouse bridge',
    ),
  })

  const cwd = workplace(home.path)
  const { recipe, starts } = replOf({ cwd, gateway, key })
  const { settleMs: _ms, ...restart } = { ...recipe, harness: 'claude', settleSeconds: 2 }
  const agents = [{ profile: 'donna', harnesses: ['claude'], directories: [cwd], restart }]
  writeFileSync(join(home.path, '.config', 'rouse', 'bridge.json'), JSON.stringify({ agents }), { mode: 0o600 })
  const bridge = start(['bridge'], env)
  await bridge.until(/@donna: connected/)
  expect((await run(['bridge', 'status'], env)).stdout).toContain(
    '@donna: its recipe for claude is not proven: rouse recovery prove @donna',
  )
  const proof = await run(['recovery', 'prove', '@donna'], env)
  expect(proof).toMatchObject({ code: 0, stdout: expect.stringMatching(/^@donna: proven: a new process \(\d+\)/) })
  const { pid } = starts()[0]!
  const { stdout } = await run(['bridge', 'status'], env)
  expect(stdout).toMatch(
    /@donna: restarts claude \(proven 2\d{3}-[^)]+\); proof at [^:]+:[^:]+:[^:]+: started; process \d+ runs/,
  )
  expect(stdout).toContain(`process ${pid} runs`)
  expect(stdout).not.toContain(key)
  bridge.interrupt()
  await bridge.code
  // The harness goes on without its bridge.
  process.kill(pid, 0)
})

test('rouse recovery prove that is interrupted before the proof has ended has not succeeded', async () => {
  using home = dataDirectory()
  await using gateway = await startGateway()
  const { key } = await gateway.addAgent('donna')
  const env = { HOME: home.path, PATH: join(home.path, 'bin') }
  const profile = { url: gateway.url, key, identity: '@donna' }
  writeProfiles({ current: 'donna', byName: new Map([['donna', profile]]) }, env)
  const cwd = workplace(home.path)
  const { recipe } = replOf({ cwd, gateway, key, env: { SILENT: 'yes' } })
  const { settleMs: _ms, ...restart } = { ...recipe, harness: 'claude', settleSeconds: 2 }
  const agents = [{ profile: 'donna', harnesses: ['claude'], directories: [cwd], restart }]
  writeFileSync(join(home.path, '.config', 'rouse', 'bridge.json'), JSON.stringify({ agents }), { mode: 0o600 })
  const bridge = start(['bridge'], env)
  await bridge.until(/@donna: connected/)
  const proof = start(['recovery', 'prove', '@donna'], env)
  await proof.until(/its session is waited for/)
  proof.interrupt()
  expect(await proof.code).toBe(130)
  bridge.interrupt()
  await bridge.code
})
