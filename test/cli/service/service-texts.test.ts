import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentText, bridgeService } from '../../../src/cli/service/services.ts'
import { unitName, unitText } from '../../../src/cli/service/systemd-unit.ts'
import { programPath } from '../../../src/harnesses/program-path.ts'
import { dataDirectory } from '../../support/data-directory.ts'

const launch = {
  words: ['/opt/node 20/bin/node', '/opt/r"ouse%$HOME/main.js', 'bridge'],
  env: { PATH: '/usr/bin:/opt/a b%/bin', XDG_STATE_HOME: '/home/u/<state>&' },
}
const place = { env: { HOME: '/home/u' }, cwd: '/', platform: 'linux' as NodeJS.Platform }

test('a unit quotes what systemd would read as something else', () => {
  const text = unitText(launch)
  expect(text).toContain('ExecStart="/opt/node 20/bin/node" "/opt/r\\"ouse%%$$HOME/main.js" "bridge"\n')
  expect(text).toContain('Environment="PATH=/usr/bin:/opt/a b%%/bin"\n')
})

const analyze = programPath('systemd-analyze', { env: process.env, platform: process.platform })

test.runIf(analyze)('systemd takes the unit without a warning', () => {
  using scratch = dataDirectory()
  const directory = scratch.path
  const unit = join(directory, unitName)
  writeFileSync(unit, unitText({ words: [process.execPath, join(directory, 'a b'), 'bridge'], env: launch.env }))
  const said = execFileSync(analyze!, ['verify', '--user', unit], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: directory },
  })
  expect(said).toBe('')
})

test('an agent of launchd is XML, whatever a path has in it', () => {
  const text = agentText(launch)
  expect(text).toContain('<string>/opt/r"ouse%$HOME/main.js</string>')
  expect(text).toContain('<string>/home/u/&lt;state&gt;&amp;</string>')
})

test('an agent of launchd that ends takes no harness with it', () => {
  expect(agentText(launch)).toContain('<key>AbandonProcessGroup</key>\n  <true/>\n')
})

test.each([
  ['linux', '/home/u/.config/systemd/user/rouse-bridge.service'],
  ['darwin', '/home/u/Library/LaunchAgents/dev.rouse.bridge.plist'],
] as const)('on %s the file is where its manager looks', (platform, path) => {
  expect(bridgeService({ ...place, platform }, launch).path).toBe(path)
})

test('on Windows the user learns what to do, with the command', () => {
  expect(() => bridgeService({ ...place, platform: 'win32' }, launch)).toThrow(/schtasks \/Create .*\\"\/opt\/node 20/)
  expect(() => bridgeService({ ...place, platform: 'aix' }, launch)).toThrow(/knows no services of aix/)
})
