import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { bundled } from '../bundled.ts'
import { startBridge, workplace } from './bridge-desk.ts'
import { FakeHarness } from './fake-harness.ts'

let script = ''

beforeAll(() => {
  script = bundled(join(import.meta.dirname, 'crashing-bridge.ts'))
})

/** Runs a bridge that hangs at that point of a hand-over, and kills it there. */
async function crash(argv: readonly string[], begin: () => Promise<unknown>): Promise<void> {
  const child = spawn(process.execPath, [script, ...argv], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const reached = once(child.stdout, 'data')
    await begin()
    await Promise.race([
      reached,
      once(child, 'exit').then(() => Promise.reject(new Error('The bridge ended by itself.'))),
    ])
  } finally {
    const gone = child.exitCode === null ? once(child, 'exit') : undefined
    child.kill('SIGKILL')
    await gone
  }
}

const actsIn = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [])

test.each(['after the act', 'before the act'])(
  'a bridge that is killed %s of a hand-over acts once, over two lives',
  async (point) => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const acts = join(home.path, 'acts')
    await crash([gateway.url, donna.key, home.path, acts, point], () =>
      gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' }),
    )
    expect(actsIn(acts)).toHaveLength(point === 'after the act' ? 1 : 0)

    const harness = new FakeHarness()
    harness.set({ cwd: workplace(home.path) })
    harness.found = actsIn(acts).length > 0 ? 'turn_started' : 'absent'
    harness.onWake = async (session, wake, tools) => {
      const end = await harness.begin(session, wake, tools)
      appendFileSync(acts, `${wake.id}\n`)
      return end
    }
    await using bridge = await startBridge({ gateway, agents: [donna], rows: [harness.row()], home: home.path })
    const { eventId } = await bridge.step('turn_started')
    expect(actsIn(acts)).toEqual([eventId])
    expect(harness.sought).toEqual([eventId])
    const unread = async () =>
      (await gateway.call('GET', '/v1/wake-subscriptions', undefined, donna)).body.subscriptions
    const [{ subscriptionId }] = await unread()
    const path = `/v1/wake-subscriptions/${subscriptionId}/deliveries`
    const deliveries = async () => (await gateway.call('GET', path, undefined, donna)).body.deliveries
    await until(deliveries, ([delivery]) => delivery?.outcome === 'delivered')
    expect(await deliveries()).toHaveLength(1)
  },
)

test('what cannot be determined after a crash is unknown, and is not handed over again', async () => {
  using home = dataDirectory()
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const acts = join(home.path, 'acts')
  await crash([gateway.url, donna.key, home.path, acts, 'after the act'], () =>
    gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' }),
  )
  const harness = new FakeHarness()
  harness.set({ cwd: workplace(home.path) })
  await using bridge = await startBridge({ gateway, agents: [donna], rows: [harness.row()], home: home.path })
  expect((await bridge.step('unknown')).detail).toContain('the harness does not tell')
  expect(harness.turns).toEqual([])
})
