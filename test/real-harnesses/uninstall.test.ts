import { readdirSync, readFileSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { codexConfig } from './codex-config.ts'
import { openOffice } from './office.ts'
import { opencodeConfig } from './opencode-config.ts'

/** Its service is that of systemd, with a stand-in: no test speaks to the manager of whoever runs it. */
test.runIf(process.platform === 'linux')(
  'what was installed for Codex, OpenCode and the bridge leaves nothing in the home when it is taken out',
  async () => {
    await using office = await openOffice()
    const { env, at, write, rouse, profile } = office
    env.CODEX_HOME = at('.codex')
    write('bin/systemctl', '#!/bin/sh\n', 0o755)
    env.PATH = [at('bin'), env.PATH].join(delimiter)
    write('.codex/config.toml', codexConfig('http://127.0.0.1:9', at('project'), 'on-request'))
    write('.config/opencode/opencode.jsonc', opencodeConfig('http://127.0.0.1:9'))
    const before = contentsOf(at())
    const installed = [
      ['codex', '--profile', profile, '--approve-tools'],
      ['opencode', '--profile', profile, '--bridge'],
      ['--bridge'],
    ]
    for (const argv of installed) {
      const { code, stderr } = await rouse('install', ...argv)
      expect([code, stderr]).toEqual([0, ''])
    }
    expect(contentsOf(at())).not.toEqual(before)
    for (const [what] of installed.reverse()) {
      const { code, stderr } = await rouse('uninstall', what!)
      expect([code, stderr]).toEqual([0, ''])
    }
    expect(contentsOf(at())).toEqual(before)
  },
)

/** Every file and directory below a path, with its content. */
function contentsOf(path: string): Record<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/^project\/\.git\//.test(name),
  )
  const entries = names.sort().map((name): [string, string] => {
    const isFile = statSync(join(path, name)).isFile()
    return [name, isFile ? readFileSync(join(path, name), 'latin1') : 'directory']
  })
  return Object.fromEntries(entries)
}
