import { expect, test } from 'vitest'
import type { Recipe } from '../../../src/bridge/restart/recipe.ts'
import { until } from '../../support/until.ts'
import { RecoveryStub } from '../recovery/recovery-stub.ts'
import { openPlace, startBridge, workplace } from '../run/bridge-desk.ts'
import { replOf } from './repl.ts'

const run = (digit: number): string => String(digit).repeat(16)

async function openSeat(recipe: Partial<Recipe> = {}, env: Record<string, string> = {}) {
  const place = await openPlace()
  place.harness.sessions = []
  const { home, gateway, donna } = place
  const repl = replOf({ cwd: workplace(home), gateway, key: donna.key, env, recipe })
  const stub = new RecoveryStub()
  return { ...place, repl, stub, options: { ...place.options, restart: repl.recipe, fetch: stub.fetch, accountMs: 50 } }
}

/** Asks until a proof has ended. */
const ended = (bridge: Awaited<ReturnType<typeof startBridge>>, name: string) =>
  until(
    () => bridge.prove('@donna', name),
    ({ state }) => state !== 'running',
  )

test('a recipe is proven by a new process, a new session from it and its first act, and the proof outlives the bridge', async () => {
  await using seat = await openSeat()
  {
    await using bridge = await startBridge(seat.options)
    expect((await bridge.status()).agents[0]!.restart).toEqual({ harness: 'codex' })
    const proof = await ended(bridge, run(1))
    const [start] = seat.repl.starts()
    expect(proof).toEqual({
      state: 'proven',
      detail: `a new process (${start!.pid}), a new session from it, and its first act`,
    })
    expect(start!.prompt).toContain('for @donna (proof of the recipe)')
    expect(seat.repl.running()).toEqual([start!.pid])
    // Asked again, the same proof answers the same; another one is not begun beside its harness.
    expect(await bridge.prove('donna', run(1))).toEqual(proof)
    expect(await ended(bridge, run(2))).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('end it first'),
    })
    expect(seat.repl.starts()).toHaveLength(1)
  }
  await using again = await startBridge(seat.options)
  const [agent] = (await again.status()).agents
  expect(agent!.restart).toMatchObject({
    harness: 'codex',
    provenAt: expect.any(String),
    pid: seat.repl.starts()[0]!.pid,
  })
  expect(seat.stub.accounts.at(-1)).toMatchObject({ restart: 'proven' })
  // No act of the gateway, so nothing is reported as one.
  expect(seat.stub.acts).toEqual([])
})

test('a harness that has acted and is idle again when it is looked at is proven', async () => {
  await using seat = await openSeat({}, { SOON_IDLE: 'yes' })
  await using bridge = await startBridge(seat.options)
  expect(await ended(bridge, run(1))).toMatchObject({ state: 'proven' })
})

test('a harness that ends before it has acted proves nothing', async () => {
  await using seat = await openSeat({ settleMs: 100 }, { SILENT: 'yes', ENDS_AFTER_MS: '800' })
  await using bridge = await startBridge(seat.options)
  expect(await ended(bridge, run(1))).toEqual({ state: 'failed', detail: 'its process has ended before it has acted' })
  expect((await bridge.status()).agents[0]!.restart).not.toHaveProperty('provenAt')
})

test('a command that is not there proves nothing, and says why', async () => {
  await using seat = await openSeat({ command: ['/nowhere/codex'] })
  await using bridge = await startBridge(seat.options)
  expect(await ended(bridge, run(1))).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('exit code 127'),
  })
})

test('an agent that the configuration does not have, and one without a recipe, are named', async () => {
  await using seat = await openSeat()
  const { restart: _none, ...without } = seat.options
  await using bridge = await startBridge(without)
  expect(await bridge.prove('@erik', run(1))).toEqual({
    state: 'failed',
    detail: 'the configuration of the bridge has no agent @erik. It has: @donna',
  })
  expect(await ended(bridge, run(2))).toMatchObject({ detail: expect.stringContaining('add "restart"') })
})
