import { describe, expect, test } from 'vitest'
import { startBridge } from '../bridge/run/bridge-desk.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { handOver, openDesk, screens } from './codex-desk.ts'
import { program } from './programs.ts'
import { hasTerminal } from './terminal.ts'

const codex = program('codex')
const canRun = codex !== undefined && hasTerminal()

const tell = (state: string, { step, detail, ms }: { step: string; detail: string; ms: number }) =>
  console.log(`${state} → ${step} (${detail}) after ${ms} ms`)

describe.skipIf(!canRun)('Codex in a terminal on a server that listens', () => {
  test('idle, busy, asking, refused, interrupted: at most one turn, and the draft stays', async () => {
    await using desk = await openDesk(codex!)
    await desk.listen()
    await using terminal = await desk.openTerminal('--remote', `unix://${desk.socket}`)
    await terminal.type('first prompt')
    const session = await desk.onlySession()
    const id = session.conversationId
    const becomes = (state: string) =>
      until(
        () => desk.stateOf(id),
        (now) => now === state,
      )
    await becomes('idle')

    await terminal.type('half a thought', { enter: false })
    const idle = handOver(desk.adapter, session)
    expect(await idle.ended).toMatchObject({ step: 'turn_started' })
    await terminal.shows(idle.id)
    await terminal.shows('half a thought')
    tell('idle, with a draft', await idle.ended)

    terminal.key('C-u')
    await becomes('idle')
    await terminal.type('HOLD one')
    await becomes('active')
    await terminal.type('a draft while busy', { enter: false })
    const busy = handOver(desk.adapter, session)
    await until(
      () => busy.steps.at(-1),
      (step) => /a turn runs/.test(step ?? ''),
    )
    expect(desk.turnsWith(busy.id)).toBe(0)
    desk.release()
    expect(await busy.ended).toMatchObject({ step: 'turn_started' })
    await terminal.shows('a draft while busy')
    tell('busy, with a draft', await busy.ended)

    terminal.key('C-u')
    await becomes('idle')
    await terminal.type('ASK one')
    await terminal.shows(screens.approval)
    await becomes('waitingOnApproval')
    const asking = await handOver(desk.adapter, session).ended
    expect(asking).toMatchObject({ step: 'held' })
    await terminal.shows(screens.approval)
    tell('an approval is open', asking)
    terminal.key('y')
    await becomes('idle')
    const approved = handOver(desk.adapter, session)
    expect(await approved.ended).toMatchObject({ step: 'turn_started' })
    tell('… approved', await approved.ended)

    await becomes('idle')
    await terminal.type('ASK two')
    await terminal.shows(screens.approval)
    await becomes('waitingOnApproval')
    terminal.key('Escape')
    await becomes('idle')
    const refused = handOver(desk.adapter, session)
    const isShownToSender = until(
      () => refused.steps.at(-1),
      (step) => /interrupt stopped/.test(step ?? ''),
      5_000,
    )
    const first = await Promise.race([refused.ended.then(({ step }) => step), isShownToSender])
    console.log(`… refused → ${first}`)
    if (first !== 'turn_started') {
      await terminal.type('go on')
      await refused.ended
    }
    expect(await refused.ended).toMatchObject({ step: 'turn_started' })
    tell('… refused', await refused.ended)

    await becomes('idle')
    await terminal.type('HOLD two')
    await becomes('active')
    const stopped = handOver(desk.adapter, session)
    await until(
      () => stopped.steps.at(-1),
      (step) => /a turn runs/.test(step ?? ''),
    )
    terminal.key('Escape')
    await until(
      () => stopped.steps.at(-1),
      (step) => /interrupt stopped/.test(step ?? ''),
    )
    expect(desk.turnsWith(stopped.id)).toBe(0)
    desk.release()
    await terminal.type('after the stop')
    expect(await stopped.ended).toMatchObject({ step: 'turn_started' })
    tell('busy, interrupted, then a prompt of its user', await stopped.ended)
    for (const one of [idle, busy, approved, refused, stopped]) expect(await desk.turnsOnceWith(one.id)).toBe(1)
  })

  test('two conversations in one directory are distinguished', async () => {
    await using desk = await openDesk(codex!)
    await desk.listen()
    await using one = await desk.openTerminal('--remote', `unix://${desk.socket}`)
    await one.type('the first of two')
    const first = await desk.onlySession()
    await using other = await desk.openTerminal('--remote', `unix://${desk.socket}`)
    await other.type('the second of two')
    const second = await desk.onlySession(({ conversationId }) => conversationId !== first.conversationId)
    await until(
      () => desk.stateOf(second.conversationId),
      (state) => state === 'idle',
    )
    const wake = handOver(desk.adapter, second)
    expect(await wake.ended).toMatchObject({ step: 'turn_started' })
    await other.shows(wake.id)
    expect(one.text).not.toContain(wake.id)
    tell('two conversations in one directory', await wake.ended)
  })

  test('a server that is killed with a wake in its queue: no turn, and it is not sent twice', async () => {
    await using desk = await openDesk(codex!)
    const server = await desk.listen()
    await using terminal = await desk.openTerminal('--remote', `unix://${desk.socket}`)
    await terminal.type('first prompt')
    const session = await desk.onlySession()
    await until(
      () => desk.stateOf(session.conversationId),
      (state) => state === 'idle',
    )
    await terminal.type('HOLD')
    await until(
      () => desk.stateOf(session.conversationId),
      (state) => state === 'active',
    )
    const wake = handOver(desk.adapter, session)
    await until(
      () => wake.steps.at(-1),
      (step) => /a turn runs/.test(step ?? ''),
    )
    server.kill('SIGKILL')
    const end = await wake.ended
    expect(end).toMatchObject({ step: 'held' })
    expect(desk.turnsWith(wake.id)).toBe(0)
    expect(await desk.adapter.find(session, wake.id, new AbortController().signal)).toBe('absent')
    tell('the server is killed with the wake in its queue', end)
  })
})

describe.skipIf(!canRun)('Codex in a terminal of its own', () => {
  test('idle, busy, closed, opened again: at most one turn, and the draft stays', async () => {
    await using desk = await openDesk(codex!)
    const terminal = await desk.openTerminal()
    await terminal.type('first prompt')
    const session = await desk.onlySession()
    await terminal.type('half a thought', { enter: false })
    const idle = handOver(desk.adapter, session)
    expect(await idle.ended).toMatchObject({ step: 'turn_started' })
    await terminal.shows(idle.id)
    await terminal.shows('half a thought')
    tell('no server: idle, with a draft', await idle.ended)

    terminal.key('C-u')
    await terminal.type('HOLD')
    await until(() => desk.turnsWith('HOLD'), Boolean)
    const busy = handOver(desk.adapter, session)
    await until(
      () => busy.steps.at(-1),
      (step) => /^held/.test(step ?? ''),
    )
    desk.release()
    expect(await busy.ended).toMatchObject({ step: 'turn_started' })
    tell('no server: busy', await busy.ended)

    await terminal[Symbol.asyncDispose]()
    const closed = await handOver(desk.adapter, session).ended
    expect(closed).toMatchObject({ step: 'held', detail: expect.stringContaining('closed') })
    tell('no server: closed', closed)

    await using again = await desk.openTerminal('resume', session.conversationId)
    const reopened = await desk.onlySession()
    expect(reopened.conversationId).toBe(session.conversationId)
    const wake = handOver(desk.adapter, reopened)
    expect(await wake.ended).toMatchObject({ step: 'turn_started' })
    await again.shows(wake.id)
    tell('no server: opened again', await wake.ended)
    for (const one of [idle, busy, wake]) expect(await desk.turnsOnceWith(one.id)).toBe(1)
  })

  test('a terminal that is closed with a wake in its queue gives it back', async () => {
    await using desk = await openDesk(codex!)
    const terminal = await desk.openTerminal()
    await terminal.type('HOLD first')
    const session = await desk.onlySession()
    const wake = handOver(desk.adapter, session)
    await until(
      () => wake.steps,
      ({ length }) => length > 0,
    )
    await terminal[Symbol.asyncDispose]()
    const end = await wake.ended
    expect(end).toMatchObject({ step: 'held', detail: expect.stringContaining('closed') })
    expect(desk.turnsWith(wake.id)).toBe(0)
    tell('no server: closed with the wake in its queue', end)
  })

  test('a closed conversation is opened where its user has set it', async () => {
    await using desk = await openDesk(codex!, { resumeClosed: true })
    const terminal = await desk.openTerminal()
    await terminal.type('first prompt')
    const session = await desk.onlySession()
    await terminal[Symbol.asyncDispose]()
    const closed = await desk.onlySession()
    expect(closed).toMatchObject({ conversationId: session.conversationId, route: 'resume' })
    const wake = handOver(desk.adapter, closed)
    expect(await wake.ended).toMatchObject({ step: 'turn_started' })
    tell('closed, resumeClosed', await wake.ended)
    expect(await desk.turnsOnceWith(wake.id)).toBe(1)

    // Nobody is there to answer: the turn ends, and its conversation is free again.
    const asking = handOver(desk.adapter, await desk.onlySession(), 'ASK')
    expect(await asking.ended).toMatchObject({ step: 'turn_started' })
    const [note] = await until(
      () => desk.notes,
      ({ length }) => length > 0,
    )
    expect(note).toContain('asked its user')
    await using again = await desk.openTerminal('resume', session.conversationId)
    await again.shows(asking.id)
    expect(desk.turnsWith(asking.id)).toBe(1)
  })
})

describe.skipIf(!canRun)('A bridge with Codex', () => {
  test('mail wakes the conversation; a bridge that stops and starts again hands each wake over once', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('@donna')
    await using desk = await openDesk(codex!)
    await desk.listen()
    await using terminal = await desk.openTerminal('--remote', `unix://${desk.socket}`)
    await terminal.type('first prompt')
    const { conversationId } = await desk.onlySession()
    await until(
      () => desk.stateOf(conversationId),
      (state) => state === 'idle',
    )
    const office = { gateway, agents: [donna], rows: [desk.row], home: desk.directory }
    {
      await using bridge = await startBridge(office)
      const sentAt = performance.now()
      await gateway.send('@donna', 'Please review PR 7')
      const began = await bridge.step('turn_started')
      console.log(`mail → ${began.step} (${began.source}) after ${Math.round(performance.now() - sentAt)} ms`)
      await terminal.shows('Please review PR 7')

      await terminal.type('HOLD on')
      await until(
        () => desk.stateOf(conversationId),
        (state) => state === 'active',
      )
      await gateway.send('@donna', 'Please look at PR 8')
      await until(
        () => bridge.receipts.map(({ detail }) => detail),
        (details) => details.some((detail) => /a turn runs/.test(detail ?? '')),
      )
    }
    await using again = await startBridge(office)
    await until(
      () => again.receipts.map(({ detail }) => detail),
      (details) => details.some((detail) => /a turn runs/.test(detail ?? '')),
    )
    desk.release()
    await again.step('turn_started')
    await terminal.shows('Please look at PR 8')
    expect([await desk.turnsOnceWith('PR 7'), await desk.turnsOnceWith('PR 8')]).toEqual([1, 1])
  })
})
