import { describe, expect, test } from 'vitest'
import { wakeOf } from '../../bridge/local/desk.ts'
import { until } from '../../support/until.ts'
import { attempt, found, openDesk } from './desk.ts'

const isReachable = ({ route }: { route?: string }) => route === 'monitor'

describe('a session with the plugin', () => {
  test('that is idle begins a turn with a wake, and its hook proves it', async () => {
    await using desk = await openDesk('--bridge')
    await using bridge = await desk.startBridge()
    const session = await desk.open({ isLate: true })
    const adapter = desk.adapterOf(bridge)
    const target = await found(adapter, isReachable)
    expect(target).toMatchObject({ state: 'idle', cwd: desk.project, process: { pid: session.pid } })
    expect(await session.state()).toMatchObject({ monitors: 1, waiters: 0 })

    const wake = wakeOf()
    const { steps, end } = await attempt(adapter, target, wake)
    expect(steps).toEqual([expect.stringMatching(/^handing over by monitor#[0-9a-f]{16}$/), 'written'])
    expect(end).toMatchObject({
      step: 'turn_started',
      detail: expect.stringMatching(/^the hook UserPromptSubmit of turn /),
    })
    const turn = await session.heard('turn')
    expect(turn).toMatchObject({ kind: 'task-notification', text: `<event>${wake.text}</event>` })
    await session.act('write')
    const never = new AbortController().signal
    expect(await adapter.find(target, wake.id, never)).toBe('turn_started')
    expect(await adapter.find(target, wakeOf().id, never)).toBe('unknown')

    // A turn runs now: what would be handed over could not be taken back.
    const busy = await attempt(adapter, target, wakeOf())
    expect(busy).toEqual({ steps: [], end: { step: 'held', detail: 'a turn runs', reason: 'turn_active' } })
    await session.act('ask')
    const asking = await attempt(adapter, target, wakeOf())
    expect(asking.end).toEqual({
      step: 'held',
      detail: 'the session waits for its user (permission prompt)',
      reason: 'waiting_on_approval',
    })
    expect(session.all('turn')).toHaveLength(1)
  })

  test('that asks its user while the bridge writes its record gets nothing', async () => {
    await using desk = await openDesk('--bridge')
    await using bridge = await desk.startBridge()
    const session = await desk.open()
    const adapter = desk.adapterOf(bridge)
    const target = await found(adapter, isReachable)
    const { end } = await attempt(adapter, target, wakeOf(), async () => {
      await session.act('prompt', { text: 'go on' })
      await session.act('ask')
    })
    expect(end).toEqual({
      step: 'held',
      detail: 'the session waits for its user (permission prompt)',
      reason: 'waiting_on_approval',
    })
    await session.act('escape')
    expect(session.all('turn')).toEqual([])
  })

  test('that has cleared its conversation is not the one that was meant; the new one is reached by the same monitor', async () => {
    await using desk = await openDesk('--bridge')
    await using bridge = await desk.startBridge()
    const session = await desk.open()
    const adapter = desk.adapterOf(bridge)
    const before = await found(adapter, isReachable)
    await session.act('clear')
    const { end } = await attempt(adapter, before, wakeOf())
    expect(end).toEqual({
      step: 'held',
      detail: 'the session has gone on to another conversation',
      reason: 'no_session',
    })
    const after = await found(adapter, ({ conversationId }) => conversationId !== before.conversationId)
    expect(after.process).toEqual(before.process)
    expect((await attempt(adapter, after, wakeOf())).end).toMatchObject({ step: 'turn_started' })
  })

  test('that was killed leaves its record, and is not there; its monitor ends', async () => {
    await using desk = await openDesk('--bridge')
    await using bridge = await desk.startBridge()
    const session = await desk.open()
    const adapter = desk.adapterOf(bridge)
    const target = await found(adapter, isReachable)
    await session.kill()
    expect((await attempt(adapter, target, wakeOf())).end).toEqual({
      step: 'held',
      detail: 'the session has ended',
      reason: 'no_session',
    })
    expect((await adapter.probe()).sessions).toEqual([])
    await until(
      () => bridge.attached('claude').length,
      (count) => count === 0,
    )
  })

  test('says to a bridge that is started again whether it has had a wake; one that has begun anew does not', async () => {
    await using desk = await openDesk('--bridge')
    const first = await desk.startBridge()
    const session = await desk.open()
    const target = await found(desk.adapterOf(first), isReachable)
    const [taken, lost] = [wakeOf(), wakeOf()]
    const { steps } = await attempt(desk.adapterOf(first), target, taken)
    const way = steps[0]!.replace('handing over by ', '')
    await session.act('finish')
    await first[Symbol.asyncDispose]()
    await using second = await desk.startBridge()
    const adapter = desk.adapterOf(second)
    const never = new AbortController().signal
    expect(await adapter.find(target, lost.id, never, way)).toBe('absent')
    expect(await adapter.find(target, taken.id, never, way)).toBe('turn_started')
    await session.act('forget')
    expect(await adapter.find(target, taken.id, never, way)).toBe('written')
    expect(await adapter.find(target, lost.id, AbortSignal.timeout(100), 'monitor#0000000000000000')).toBe('unknown')
  })

  test('finds a bridge that is started again, and takes no wake twice', async () => {
    await using desk = await openDesk('--bridge')
    const first = await desk.startBridge()
    const session = await desk.open()
    const target = await found(desk.adapterOf(first), isReachable)
    const wake = wakeOf()
    expect((await attempt(desk.adapterOf(first), target, wake)).end).toMatchObject({ step: 'turn_started' })
    await session.act('finish')
    await first[Symbol.asyncDispose]()
    await using second = await desk.startBridge()
    const adapter = desk.adapterOf(second)
    await found(adapter, isReachable)
    await attempt(adapter, target, wake)
    expect(session.all('turn')).toHaveLength(1)
  })

  test('tells its changes', async () => {
    await using desk = await openDesk('--bridge')
    await using bridge = await desk.startBridge()
    const session = await desk.open()
    const adapter = desk.adapterOf(bridge)
    const states: string[] = []
    const stopping = new AbortController()
    const watching = adapter.watch(({ state, route }) => void (route && states.push(state)), stopping.signal)
    await until(
      () => states.at(-1),
      (state) => state === 'idle',
    )
    await session.act('prompt', { text: 'go on' })
    await until(
      () => states.at(-1),
      (state) => state === 'active',
    )
    await session.act('ask')
    await until(
      () => states.at(-1),
      (state) => state === 'waitingOnApproval',
    )
    await session.act('approve')
    await session.act('finish')
    await until(
      () => states.at(-1),
      (state) => state === 'idle',
    )
    stopping.abort()
    await watching
  })
})

test('without anything of Rouse in it, a session is seen and not reached, with the remedy', async () => {
  await using desk = await openDesk()
  await using bridge = await desk.startBridge()
  await desk.open()
  const adapter = desk.adapterOf(bridge)
  const target = await found(adapter)
  expect(target).not.toHaveProperty('route')
  expect(target.remark).toContain('rouse install claude --bridge')
  const { steps, end } = await attempt(adapter, target, wakeOf())
  expect(steps).toEqual([])
  expect(end).toMatchObject({ step: 'held', detail: target.remark })
})
