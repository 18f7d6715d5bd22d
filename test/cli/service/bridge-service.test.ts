import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Home, makeHome } from '../install/homes.ts'

const unit = '.config/systemd/user/rouse-bridge.service'

/** A home directory with a program that stands for systemctl: it notes its words. */
function makeUser(exit = 0): Home & { readonly commands: () => string[] } {
  const home = makeHome({ PATH: '' })
  const program = home.write(
    'bin/systemctl',
    `#!/bin/sh\necho "$@" >> "$HOME/commands"\necho "no bus" >&2\nexit ${exit}\n`,
  )
  chmodSync(program, 0o755)
  Object.assign(home.env, { PATH: `${dirname(program)}${delimiter}/usr/bin${delimiter}/bin` })
  const commands = () =>
    existsSync(home.at('commands')) ? readFileSync(home.at('commands'), 'utf8').trim().split('\n') : []
  return Object.assign(home, { commands })
}

describe.runIf(process.platform === 'linux')('the bridge as a service of systemd', () => {
  test('is written, started, and taken away without a trace', async () => {
    using home = makeUser()
    const dry = await home.rouse('install', '--bridge', '--dry-run')
    expect(dry.stdout).toContain(`+++ ${home.at(unit)}`)
    expect(dry.stderr).toContain('It would run: systemctl --user restart rouse-bridge.service')
    expect([existsSync(home.at(unit)), home.commands()]).toEqual([false, []])

    const installed = await home.rouse('install', '--bridge', '--json')
    expect(installed.code).toBe(0)
    expect(JSON.parse(installed.stdout).service).toMatchObject({ manager: 'systemd', action: 'written', told: true })
    expect(home.read(unit)).toMatch(/^ExecStart=.*main\.[jt]s" "bridge"$/m)
    expect(home.read(unit)).not.toContain('rk_secret')
    expect(home.commands()).toEqual([
      '--user daemon-reload',
      '--user enable rouse-bridge.service',
      '--user restart rouse-bridge.service',
    ])
    expect((await home.rouse('install', '--bridge')).stdout).toContain('as it was')

    const removed = await home.rouse('uninstall', '--bridge', '--json')
    expect(JSON.parse(removed.stdout).service).toMatchObject({ action: 'removed', told: true })
    expect(home.commands().slice(-2)).toEqual(['--user disable --now rouse-bridge.service', '--user daemon-reload'])
    expect(existsSync(home.at('.config/systemd'))).toBe(false)
    expect((await home.rouse('uninstall', '--bridge')).stdout).toContain('has written no service')
  })

  test('keeps what is on record of others, and the record goes with the last of it', async () => {
    using home = makeUser()
    await home.rouse('install', 'codex')
    await home.rouse('install', '--bridge')
    await home.rouse('uninstall', 'codex')
    const left = JSON.parse(home.read('.config/rouse/installed.json'))
    expect([left.files, Object.keys(left.services)]).toEqual([{}, [home.at(unit)]])
    await home.rouse('uninstall', '--bridge')
    expect(existsSync(home.at('.config/rouse/installed.json'))).toBe(false)
  })

  test('is written where no manager answers, with the commands for later', async () => {
    using home = makeUser(1)
    const { code, stdout } = await home.rouse('install', '--bridge')
    expect(code).toBe(0)
    expect(stdout).toContain('systemctl --user daemon-reload was not carried out: no bus')
    expect(stdout).toContain('No bridge was started. Until it is, one runs in a terminal: rouse bridge')
    expect(existsSync(home.at(unit))).toBe(true)
    Object.assign(home.env, { PATH: '/nowhere' })
    const { stdout: without } = await home.rouse('uninstall', '--bridge')
    expect(without).toContain('systemctl is not in PATH')
    expect(existsSync(home.at(unit))).toBe(false)
  })

  test('another unit of that name is not touched', async () => {
    using home = makeUser()
    home.write(unit, '[Service]\nExecStart=/bin/true\n')
    const { code, stderr } = await home.rouse('install', '--bridge')
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not what rouse install wrote')])
    expect(home.commands()).toEqual([])
  })

  test('one that its user has changed since is stopped and stays', async () => {
    using home = makeUser()
    await home.rouse('install', '--bridge')
    home.write(unit, `${home.read(unit)}# mine\n`)
    expect((await home.rouse('install', '--bridge')).code).toBe(2)
    expect((await home.rouse('uninstall', '--bridge')).stdout).toContain('the file stays')
    expect(home.read(unit)).toContain('# mine')
  })
})

test('a harness and the bridge are two installations', async () => {
  using home = makeHome()
  for (const command of ['install', 'uninstall']) {
    expect((await home.rouse(command, 'codex', '--bridge')).code).toBe(2)
  }
  expect((await home.rouse('uninstall')).stderr).toContain('Name a harness, or --bridge')
})
