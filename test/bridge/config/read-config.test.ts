import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AdapterRow } from '../../../src/bridge/adapter.ts'
import type { BridgeConfig } from '../../../src/bridge/config/bridge-config.ts'
import { configPath, readConfigText } from '../../../src/bridge/config/config-file.ts'
import { firstConfig, writeFirstConfig } from '../../../src/bridge/config/first-config.ts'
import { harnessesIn, parseConfig, readBridgeConfig } from '../../../src/bridge/config/read-config.ts'
import type { Profile } from '../../../src/client/profile-file.ts'
import { dataDirectory } from '../../support/data-directory.ts'

const profile = (identity: string): Profile => ({ url: 'http://127.0.0.1:4520', key: 'rk_1', identity })
const profiles = {
  current: 'donna',
  byName: new Map([
    ['donna', profile('@donna')],
    ['again', profile('@donna')],
    ['ben', profile('@ben')],
    ['admin', profile('@operator')],
  ]),
}
const codex: AdapterRow = {
  id: 'codex',
  title: 'Codex',
  proves: ['turn_started'],
  settings: {
    steer: { type: 'boolean', help: 'whether a running turn gets wakes too' },
    args: { type: 'strings', help: 'arguments of the program' },
  },
  create: () => {
    throw new Error('not here')
  },
}
const known = ['codex', 'claude'] as const

function read(value: unknown, home = '/nonexistent'): BridgeConfig {
  const rows = new Map([['codex', codex] as const])
  return readBridgeConfig(value, '/etc/bridge.json', { env: { HOME: home }, profiles, known, rows })
}

describe('the configuration of the bridge', () => {
  test('has defaults, and resolves what it names', () => {
    using home = dataDirectory()
    mkdirSync(join(home.path, 'src', 'app'), { recursive: true })
    symlinkSync(join(home.path, 'src'), join(home.path, 'link'))
    const agents = [{ profile: 'donna', harnesses: ['codex', 'claude', 'codex'], directories: ['~/link/app'] }]
    expect(read({ agents }, home.path)).toEqual({
      path: '/etc/bridge.json',
      adapters: {},
      maxTurnsAMinute: 20,
      harnessWaitMinutes: 240,
      agents: [
        {
          profile: { ...profile('@donna'), name: 'donna' },
          harnesses: ['codex', 'claude'],
          directories: [realpathSync(join(home.path, 'src', 'app'))],
          triggers: ['SENT_TO_ME', 'TASK_STATE_CHANGED'],
          turnsAnHour: 30,
          wakesFromOneAgentAnHour: 20,
        },
      ],
    })
  })

  const agent = { profile: 'donna', harnesses: ['codex'], directories: ['/tmp'] }
  const wrong: [string, unknown, RegExp][] = [
    ['no object', [], /must be an object/],
    ['no agents', {}, /^ {2}agents: must be a list of agents/m],
    ['an empty list of agents', { agents: [] }, /agents: is empty/],
    [
      'a misspelt field',
      { agents: [{ ...agent, directores: [] }] },
      /agents\[0\]\.directores: is no setting\. Did you mean directories\?/,
    ],
    [
      'an unknown field',
      { agents: [agent], colour: 1 },
      /colour: is no setting\. There are: agents, adapters, maxTurnsAMinute/,
    ],
    [
      'an unknown profile',
      { agents: [{ ...agent, profile: 'olga' }] },
      /agents\[0\]\.profile: there is no profile "olga"\. There are: donna, again/,
    ],
    ['the operator', { agents: [{ ...agent, profile: 'admin' }] }, /admin has the operator's key/],
    [
      'one agent twice',
      { agents: [agent, { ...agent, profile: 'again' }] },
      /agents\[1\]\.profile: @donna is in agents\[0\] already/,
    ],
    [
      'a misspelt harness',
      { agents: [{ ...agent, harnesses: ['coder'] }] },
      /harnesses\[0\]: "coder" is not known\. Did you mean codex\?/,
    ],
    [
      'no directory',
      { agents: [{ ...agent, directories: undefined }] },
      /agents\[0\]\.directories: must be a list of directories/,
    ],
    [
      'a relative directory',
      { agents: [{ ...agent, directories: ['src/app'] }] },
      /directories\[0\]: src\/app is relative\. Write the whole path/,
    ],
    [
      'a directory that is not there',
      { agents: [{ ...agent, directories: ['/nonexistent'] }] },
      /\/nonexistent cannot be looked at \(ENOENT\)/,
    ],
    ['everything', { agents: [{ ...agent, directories: ['/'] }] }, /\/ is everything/],
    ['a trigger that is none', { agents: [{ ...agent, triggers: ['SENT_TO_M'] }] }, /Did you mean SENT_TO_ME\?/],
    [
      'a limit that is none',
      { agents: [{ ...agent, turnsAnHour: 0 }] },
      /turnsAnHour: must be a whole number from 1 to 10000/,
    ],
    [
      'an unknown adapter',
      { agents: [agent], adapters: { codec: {} } },
      /adapters\.codec: is no setting\. Did you mean codex\?/,
    ],
    [
      'an unknown setting',
      { agents: [agent], adapters: { codex: { stear: true } } },
      /adapters\.codex\.stear: is no setting\. Did you mean steer\?/,
    ],
    [
      'a setting of another type',
      { agents: [agent], adapters: { codex: { steer: 'no' } } },
      /adapters\.codex\.steer: must be true or false: whether a running turn gets wakes too/,
    ],
    [
      'a list with something else',
      { agents: [agent], adapters: { codex: { args: ['-v', 1] } } },
      /adapters\.codex\.args: must be a list of texts/,
    ],
  ]
  test.each(wrong)('with %s is refused, with the field and the remedy', (_name, value, message) => {
    expect(() => read(value)).toThrow(message)
  })

  test('tells everything that is wrong at once', () => {
    const agents = [{ ...agent, profile: 'olga', triggers: ['NO'] }]
    expect(() => read({ agents, maxTurnsAMinute: -1 })).toThrow(/olga[\s\S]*"NO"[\s\S]*maxTurnsAMinute/)
  })

  test('may have comments; what is no JSON is refused with its place', () => {
    expect(parseConfig('{ "agents": [], // mine\n }', 'bridge.json')).toEqual({ agents: [] })
    expect(() => parseConfig('{ "agents": [}', 'bridge.json')).toThrow(/^bridge\.json:1:\d+: /)
  })

  test('names the harnesses whose code is loaded', () => {
    const value = { agents: [{ harnesses: ['codex', 'other'] }, 1], adapters: { claude: {} } }
    expect(harnessesIn(value, ['codex', 'claude', 'qwen'])).toEqual(['codex', 'claude'])
    expect(harnessesIn(null, ['codex'])).toEqual([])
  })
})

describe('its file', () => {
  test('is the one that is named, else that of the environment, else beside the profiles', () => {
    const env = { HOME: '/home/donna', ROUSE_BRIDGE_CONFIG: '/etc/bridge.json' }
    expect(configPath('/mine.json', env)).toBe('/mine.json')
    expect(configPath(undefined, env)).toBe('/etc/bridge.json')
    expect(configPath(undefined, { HOME: '/home/donna' })).toBe('/home/donna/.config/rouse/bridge.json')
    expect(() => configPath(undefined, {})).toThrow('--config')
  })

  test('that others may write, or replace, is refused with the command that mends it', () => {
    using home = dataDirectory()
    const directory = join(home.path, 'rouse')
    const path = join(directory, 'bridge.json')
    expect(() => readConfigText(path)).toThrow('rouse bridge init')
    mkdirSync(directory)
    writeFileSync(path, '{}', { mode: 0o644 })
    expect(readConfigText(path)).toBe('{}')
    chmodSync(path, 0o664)
    expect(() => readConfigText(path)).toThrow(`chmod go-w ${path}`)
    chmodSync(path, 0o644)
    chmodSync(directory, 0o777)
    expect(() => readConfigText(path)).toThrow(`chmod go-w ${directory}`)
    chmodSync(directory, 0o755)
    expect(() => readConfigText(directory)).toThrow('is no file')
  })
})

describe('the first configuration', () => {
  test('has each agent of the profiles once, and not the operator', () => {
    expect(firstConfig(profiles, ['codex'], '/app').agents).toEqual([
      { profile: 'donna', harnesses: ['codex'], directories: ['/app'] },
      { profile: 'ben', harnesses: ['codex'], directories: ['/app'] },
    ])
    const again = new Map([...profiles.byName, ['again', profiles.byName.get('donna')!]])
    expect(firstConfig({ ...profiles, byName: again }, ['codex'], '/app').agents).toHaveLength(2)
    expect(() => firstConfig({ current: undefined, byName: new Map() }, ['codex'], '/app')).toThrow('rouse login')
    expect(() => firstConfig(profiles, [], '/app')).toThrow('No harness')
  })

  test('gives a harness to the agents for which it was installed, and leaves out who has none', () => {
    const agentsWith = (speakers: [string, string[]][]) =>
      firstConfig(profiles, ['codex', 'claude'], '/app', new Map(speakers)).agents.map(
        ({ profile, harnesses }) => `${profile}: ${harnesses.join(' ')}`,
      )
    expect(agentsWith([['codex', ['donna']]])).toEqual(['donna: codex claude', 'ben: claude'])
    const installed: [string, string[]][] = [
      ['codex', ['donna']],
      ['claude', ['donna']],
    ]
    expect(agentsWith(installed)).toEqual(['donna: codex claude'])
    expect(agentsWith(installed.map(([id]) => [id, ['gone']]))).toEqual(['donna: codex claude', 'ben: codex claude'])
  })

  test('overwrites nothing, and what it writes is accepted', () => {
    using home = dataDirectory()
    const path = join(home.path, 'rouse', 'bridge.json')
    const first = firstConfig(profiles, ['codex'], home.path)
    writeFirstConfig(path, first)
    expect(read(parseConfig(readConfigText(path), path)).agents).toHaveLength(2)
    expect(() => writeFirstConfig(path, first)).toThrow('is there already')
  })
})
