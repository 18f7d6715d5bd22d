import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { execRow } from '../../../src/harnesses/generic/exec/exec-adapter.ts'
import { start } from '../../cli/terminal.ts'
import { until } from '../../support/until.ts'
import { mail, subscriptionsOf, untilOutcomes } from './acts.ts'
import { openPlace, startBridge, workplace } from './bridge-desk.ts'
import { duringWakes } from './forged-wakes.ts'

describe('a wake that fails', () => {
  test('after the act is unknown: it is not handed over again, and counts against nobody', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, options } = place
    let acts = 0
    harness.onWake = async (_session, _wake, tools) => {
      await tools.handingOver('queue')
      acts++
      return { step: 'failed', detail: 'HTTP 502' }
    }
    await using bridge = await startBridge(options)
    await mail(gateway, 'one')
    expect(await bridge.step('unknown')).toMatchObject({ detail: 'HTTP 502' })
    await untilOutcomes(gateway, donna, ['failed'])
    harness.onWake = (session, wake, tools) => harness.begin(session, wake, tools)
    await mail(gateway, 'two')
    await untilOutcomes(gateway, donna, ['failed', 'delivered'])
    expect({ acts, turns: harness.turns.length }).toEqual({ acts: 1, turns: 1 })
  })

  test('because its harness refused it comes again, begins one turn, and counts as one', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, options } = place
    const refusals: string[] = []
    harness.onWake = async (session, wake, tools) => {
      if (refusals.length > 0) return harness.begin(session, wake, tools)
      await tools.handingOver('queue')
      refusals.push(wake.id)
      return { step: 'failed', detail: 'HTTP 400', isUntouched: true }
    }
    await using bridge = await startBridge(options)
    await mail(gateway, 'one')
    await until(
      () => harness.turns.map(({ id }) => id),
      (ids) => ids.length > 0,
    )
    await untilOutcomes(gateway, donna, ['delivered'])
    expect(harness.turns.map(({ id }) => id)).toEqual(refusals)
    expect(bridge.receipts.filter(({ step }) => step === 'failed')).toHaveLength(1)
    expect(await bridge.status()).toMatchObject({ turnsLastMinute: 1 })
  })
})

// D50
test('a command that is at a limit whose reset has passed is a turn each time, and parks its agent', async () => {
  await using place = await openPlace()
  const { gateway, home, options } = place
  const limit = 'echo run >> runs; echo "Claude AI usage limit reached|$(( $(date +%s) - 5 ))"; exit 1'
  const adapters = { exec: { command: limit } }
  const env = { PATH: process.env.PATH! }
  const runs = () =>
    readFileSync(join(workplace(home), 'runs'), 'utf8')
      .trim()
      .split('\n').length
  await using bridge = await startBridge({ ...options, rows: [execRow], adapters, env, limits: { turnsAnHour: 10 } })
  await mail(gateway, 'one')
  await bridge.noted(/parked: .*usage limit/)
  // The next attempt sees the park.
  await until(
    () => bridge.receipts.filter(({ detail }) => detail?.includes('it may at')),
    (held) => held.length > 0,
  )
  expect({ runs: runs(), turns: (await bridge.status()).turnsLastMinute }).toEqual({ runs: 1, turns: 1 })
  await gateway.call('DELETE', '/v1/parked?agent=@donna')
  expect((await gateway.call('GET', '/v1/parked?agent=@donna')).body.parked).toBeNull()
})

test('a digest whose command fails is taken apart within the turns of the bridge, and only the task of the text that fails is failed', async () => {
  await using place = await openPlace()
  const { gateway, home, donna, options } = place
  const subjects = ['one', 'poison', 'two', 'three']
  const command = 'in=$(cat); echo run >> runs; case "$in" in *poison*) exit 1;; esac; echo "$ROUSE_SUBJECT" >> done'
  const adapters = { exec: { command } }
  const env = { PATH: process.env.PATH! }
  const lines = (name: string) =>
    readFileSync(join(workplace(home), name), 'utf8')
      .trim()
      .split('\n')
  const stateOf = async (id: string) => (await gateway.call('GET', `/v1/tasks/${id}`)).body.state
  const whole = { ...options, rows: [execRow], adapters, env }
  const tasks: string[] = []
  {
    await using _first = await startBridge(whole)
    await until(
      () => subscriptionsOf(gateway, donna),
      (found) => found.length > 0,
    )
  }
  const [{ subscriptionId: id }] = await subscriptionsOf(gateway, donna)
  await gateway.call(
    'PATCH',
    `/v1/wake-subscriptions/${id}`,
    { harnessTargetMetadata: { coalesceWindow: 1, coalesceMode: 'window', reader: 'bridge' } },
    donna,
  )
  for (const subject of subjects) tasks.push((await gateway.send('@donna', subject)).id)
  await using bridge = await startBridge({ ...whole, limits: { maxTurnsAMinute: 3 } })
  await bridge.noted(/Task .* is failed now/)
  await until(
    () => bridge.receipts.filter(({ detail }) => detail?.includes('maxTurnsAMinute')),
    (held) => held.length > 0,
  )
  // The whole, and two of its parts: the other two wait for the next minute.
  expect(lines('runs')).toHaveLength(3)
  expect(lines('done')).toEqual(['one'])
  expect(await Promise.all(tasks.map(stateOf))).toEqual(['submitted', 'failed', 'submitted', 'submitted'])
})

test('a test that comes twice while another act runs begins one turn', async () => {
  await using place = await openPlace()
  const { gateway, donna, harness, options } = place
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  harness.onWake = async (session, wake, tools) => {
    if (wake.text.includes('slow')) await released
    return harness.begin(session, wake, tools)
  }
  const eventId = '01KABCDEFGHJKMNPQRSTVWXY00'
  const twice = ['', ''].map(() => ({ eventType: 'wake/test', eventId, subscriptionId: 'WAKE_SUB:1', payload: {} }))
  let come = () => {}
  const mayCome = new Promise<void>((resolve) => {
    come = resolve
  })
  const fetch = duringWakes(twice, mayCome)
  await using bridge = await startBridge({ ...options, fetch })
  await mail(gateway, 'slow')
  await bridge.step('routed')
  come()
  await until(
    () => bridge.receipts.filter((one) => one.eventId === eventId).length,
    (count) => count > 0,
  )
  release()
  await untilOutcomes(gateway, donna, ['delivered'])
  await mail(gateway, 'last')
  await untilOutcomes(gateway, donna, ['delivered', 'delivered'])
  expect(harness.turns.filter(({ id }) => id === eventId)).toHaveLength(1)
})

// D53
test('a listener beside the bridge of an agent is no second turn: each mail begins one, and the account has it', async () => {
  await using place = await openPlace()
  const { gateway, home, donna, options } = place
  const runs = join(workplace(home), 'runs')
  const command = `echo run >> ${runs}`
  const env = { PATH: process.env.PATH! }
  await using _bridge = await startBridge({ ...options, rows: [execRow], adapters: { exec: { command } }, env })
  await until(
    () => subscriptionsOf(gateway, donna),
    (found) => found.length > 0,
  )
  const listener = start(['listen', '--exec', command], { ...env, ROUSE_URL: gateway.url, ROUSE_KEY: donna.key })
  await listener.until(/Listening to/)
  for (const subject of ['one', 'two', 'three']) await mail(gateway, subject)
  const read = async () => {
    const found = await subscriptionsOf(gateway, donna)
    return found.map(({ lastEmittedLogId }: { lastEmittedLogId: number }) => lastEmittedLogId)
  }
  const { body } = await gateway.call('GET', '/v1/events?since=0&limit=200')
  const newest = body.events.findLast(({ type }: { type: string }) => type === 'message.sent').logId
  await until(read, (all) => all.filter((logId) => logId === newest).length === 2)
  expect(readFileSync(runs, 'utf8').trim().split('\n')).toHaveLength(3)
  expect((await gateway.call('GET', '/v1/turns?agent=donna')).body.turns).toHaveLength(3)
  listener.interrupt()
  await listener.code
})
