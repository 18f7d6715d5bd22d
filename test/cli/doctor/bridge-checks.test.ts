import { expect, test } from 'vitest'
import type { BridgeStatus } from '../../../src/bridge/run/status.ts'
import { bridgeChecks } from '../../../src/cli/doctor/check-bridge.ts'
import { makeHome } from '../install/homes.ts'

const at = '2026-04-26T10:00:00.000Z'

const status: BridgeStatus = {
  isRunning: true,
  pid: 4711,
  startedAt: at,
  config: '/home/u/.config/rouse/bridge.json',
  agents: [
    {
      agent: '@donna',
      profile: 'donna',
      gateway: 'http://127.0.0.1:4520',
      state: 'connected',
      harnesses: ['codex'],
      directories: ['/p'],
      held: { wakeId: '01K', reason: 'the turn runs', since: at },
      waiting: 0,
      turnsLastHour: 3,
      turnsAnHour: 30,
      last: [{ wakeId: '01J', step: 'turn_started', detail: 'turn 7', harness: 'codex', at }],
    } as unknown as BridgeStatus['agents'][number],
  ],
  harnesses: [
    {
      harness: 'codex',
      title: 'Codex',
      isThere: true,
      version: '0.169.0',
      remarks: ['Its hooks are not trusted. Trust them for a proof by the hook.'],
      conversations: [{ conversationId: 't1', cwd: '/p', state: 'idle', route: 'queue' }],
    },
  ],
  turnsLastMinute: 0,
  maxTurnsAMinute: 20,
}

test('each harness has its version, its route, its last proof, and what would make that stronger', () => {
  const checks = bridgeChecks(status)
  expect(checks.map(({ state }) => state)).toEqual(['ok', 'ok', 'unknown', 'ok', 'unknown'])
  expect(checks[3]!.detail).toBe(
    `Codex 0.169.0: 1 conversation: /p is idle, by queue; last proof: turn_started (turn 7) at ${at}`,
  )
  expect(checks[4]!.detail).toContain('not trusted')
})

test('an agent whose wakes go elsewhere is broken, with what mends it', () => {
  const [agent] = status.agents
  const agents = [{ ...agent!, state: 'left' as const, reason: 'another bridge reads them', held: undefined }]
  expect(bridgeChecks({ ...status, agents })[1]).toMatchObject({
    state: 'broken',
    detail: expect.stringContaining('another bridge reads them'),
    mend: expect.stringContaining('Stop the other one'),
  })
})

test('a configuration that is wrong is named, and a bridge that does not run', async () => {
  using home = makeHome()
  const bridge = async () => JSON.parse((await home.rouse('doctor', '--json')).stdout).bridge
  expect(await bridge()).toEqual([])
  home.write('.config/rouse/bridge.json', '{ "agents": [] }')
  expect(await bridge()).toMatchObject([
    { name: 'configuration', state: 'broken', detail: expect.stringContaining('agents') },
    { name: 'bridge', state: 'unknown' },
  ])
  const agents = [{ profile: 'donna', harnesses: ['codex'], directories: [home.path] }]
  home.write('.config/rouse/bridge.json', JSON.stringify({ agents }))
  expect(await bridge()).toMatchObject([
    { name: 'configuration', state: 'ok', detail: expect.stringContaining('@donna') },
    {
      name: 'bridge',
      state: 'broken',
      detail: 'does not run',
      mend: expect.stringContaining('rouse install --bridge'),
    },
  ])
})
