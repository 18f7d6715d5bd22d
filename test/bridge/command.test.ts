import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { writeProfiles } from '../../src/client/profile-file.ts'
import { run, start } from '../cli/terminal.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { workplace } from './run/bridge-desk.ts'

type Env = Record<string, string | undefined>

/** A user with the profile of an agent, on a machine on which no harness runs. */
function user(home: string, gateway: Pick<TestGateway, 'url'>, { handle, key }: TestAgent): Env {
  const env = { HOME: home, PATH: join(home, 'bin') }
  const name = handle.replace('@', '')
  const profile = { url: gateway.url, key, identity: `@${name}` }
  writeProfiles({ current: name, byName: new Map([[name, profile]]) }, env)
  return env
}

function configure(home: string, value: unknown): string {
  const path = join(home, '.config', 'rouse', 'bridge.json')
  writeFileSync(path, JSON.stringify(value), { mode: 0o600 })
  return path
}

const statusOf = async (env: Env) => JSON.parse((await run(['bridge', 'status', '--json'], env)).stdout)

describe('rouse bridge', () => {
  test('runs until Ctrl-C, says what it holds, and its status has no secret', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const env = user(home.path, gateway, donna)
    const directory = workplace(home.path)
    configure(home.path, { agents: [{ profile: 'donna', harnesses: ['claude'], directories: [directory] }] })
    const before = await statusOf(env)
    expect(before).toMatchObject({ isRunning: false, agents: [{ agent: '@donna', state: 'not running', last: [] }] })

    const terminal = start(['bridge'], env)
    await terminal.until(/Bridging 1 agent of /)
    await terminal.until(/@donna: connected/)
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' })
    await terminal.until(/@donna {2}\w{26} {2}held {2}no_session: no conversation of claude runs in/)
    const running = await until(
      () => statusOf(env),
      ({ agents }) => agents[0]?.held !== undefined,
    )
    expect(running).toMatchObject({
      isRunning: true,
      pid: process.pid,
      agents: [
        { state: 'connected', directories: [directory], held: { reason: expect.stringContaining('no conversation') } },
      ],
      harnesses: [{ harness: 'claude', conversations: [] }],
    })
    const { stdout } = await run(['bridge', 'status'], env)
    expect(stdout).toMatch(/The bridge runs \(process \d+/)
    expect(stdout + JSON.stringify(running)).not.toContain(donna.key)

    const second = await run(['bridge'], env)
    expect(second).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Another bridge of this user runs (process ${process.pid})`),
    })
    terminal.interrupt()
    expect(await terminal.code, terminal.stderr()).toBe(130)
    expect(await statusOf(env)).toMatchObject({ isRunning: false, agents: [{ last: [{ step: 'held' }] }] })
    expect(statSync(join(home.path, '.local/state/rouse/bridge.db')).mode & 0o777).toBe(0o600)
  })

  test('starts a process for a wake where that is all that its user has allowed', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const env = { ...user(home.path, gateway, donna), PATH: process.env.PATH }
    const directory = workplace(home.path)
    configure(home.path, {
      agents: [{ profile: 'donna', harnesses: ['exec'], directories: [directory], triggers: ['SENT_TO_ME'] }],
      adapters: { exec: { command: 'printf "%s" "$ROUSE_SUBJECT" > woken' } },
    })
    const terminal = start(['bridge', '--json'], env)
    await terminal.until(/@donna: connected/)
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' })
    await terminal.until(/"step":"(acked|seen|turn_started|delivered)".*"source":"exec: /)
    expect(readFileSync(join(directory, 'woken'), 'utf8')).toBe('Review PR 7')
    terminal.interrupt()
    expect(await terminal.code, terminal.stderr()).toBe(130)
  })

  test('an agent whose key was taken away asks no more, and goes on when its profile has another one', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const env = { ...user(home.path, gateway, donna), PATH: process.env.PATH }
    const directory = workplace(home.path)
    configure(home.path, {
      agents: [{ profile: 'donna', harnesses: ['exec'], directories: [directory] }],
      adapters: { exec: { command: 'printf "%s" "$ROUSE_SUBJECT" > woken' } },
    })
    const terminal = start(['bridge'], env)
    await terminal.until(/@donna: connected/)
    const { body } = await gateway.call('GET', '/v1/agents/donna/keys')
    const { body: made } = await gateway.call('POST', '/v1/agents/donna/keys', {})
    await gateway.call('DELETE', `/v1/agents/donna/keys/${body.keys[0].keyId}`)
    await terminal.until(/@donna: its key is not valid any more.*rouse login --profile donna/)
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' })
    expect(await statusOf(env)).toMatchObject({ agents: [{ state: 'stopped' }] })

    user(home.path, gateway, { ...donna, key: made.apiKey })
    await terminal.until(/@donna: its profile has another key/)
    await until(
      () => statusOf(env),
      ({ agents }) => agents[0].state === 'connected' && agents[0].last[0]?.step === 'delivered',
    )
    expect(readFileSync(join(directory, 'woken'), 'utf8')).toBe('Review PR 7')
    terminal.interrupt()
    expect(await terminal.code, terminal.stderr()).toBe(130)
  })

  test('without a configuration, or with a wrong one, says what to do', async () => {
    using home = dataDirectory()
    const env = user(home.path, { url: 'http://127.0.0.1:1' }, { handle: 'donna', key: 'rk_1' })
    expect(await run(['bridge'], env)).toMatchObject({ code: 2, stderr: expect.stringContaining('rouse bridge init') })
    const path = configure(home.path, { agents: [{ profile: 'ben', harnesses: ['cloude'], directories: ['app'] }] })
    const wrong = await run(['bridge'], env)
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toMatch(/there is no profile "ben"[\s\S]*Did you mean claude\?[\s\S]*app is relative/)
    chmodSync(path, 0o666)
    expect((await run(['bridge', 'status'], env)).stderr).toContain(`chmod go-w ${path}`)
    const other = join(home.path, 'other.json')
    writeFileSync(other, '{', { mode: 0o600 })
    expect((await run(['bridge', '--config', other], env)).stderr).toContain(`${other}:1:`)
    expect((await run(['bridge', 'status'], { ...env, ROUSE_BRIDGE_CONFIG: other })).stderr).toContain(`${other}:1:`)
  })

  test('init writes no configuration where no harness is, and overwrites none', async () => {
    using home = dataDirectory()
    const env = user(home.path, { url: 'http://127.0.0.1:1' }, { handle: 'donna', key: 'rk_1' })
    // A user of whom no process runs on this machine: somebody's OpenCode may run there.
    const uid = vi.spyOn(process, 'getuid').mockReturnValue(2 ** 32 - 2)
    const none = await run(['bridge', 'init', '--directory', home.path], env).finally(() => uid.mockRestore())
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No harness that the bridge reaches was found here'),
    })
    mkdirSync(join(home.path, 'bin'))
    writeFileSync(join(home.path, 'bin', 'claude'), '#!/bin/sh\necho "2.1.300 (Claude Code)"\n', { mode: 0o755 })
    const first = await run(['bridge', 'init', '--directory', home.path, '--json'], {
      ...env,
      PATH: `${env.PATH}:/usr/bin:/bin`,
    })
    expect(JSON.parse(first.stdout), first.stderr).toMatchObject({
      agents: [{ profile: 'donna', harnesses: expect.arrayContaining(['claude']), directories: [home.path] }],
    })
    const again = await run(['bridge', 'init', '--directory', home.path], { ...env, PATH: `${env.PATH}:/usr/bin:/bin` })
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is there already, and is not overwritten'),
    })
    expect((await statusOf(env)).agents).toHaveLength(1)
  })
})
