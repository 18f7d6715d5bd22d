import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { freePort, type OpencodeDesk, openOpencodeDesk, wakeOf } from './opencode-desk.ts'
import { hasRegistry, program } from './programs.ts'
import { hasTerminal, type Terminal } from './terminal.ts'

const opencode = program('opencode')
const ready = 'Ask anything'
const approval = 'Permission required'
const bootMaxMs = 90_000

describe.skipIf(opencode === undefined || !hasTerminal())('OpenCode and the bridge', () => {
  test('by its port: every state of its terminal', async () => {
    await using desk = await openOpencodeDesk(opencode!)
    const terminal = await desk.open('--port', await freePort())
    await terminal.shows(ready, bootMaxMs)
    expect(await desk.find()).toBeUndefined()
    await terminal.type('hello from the user')
    await terminal.shows('answer 1', bootMaxMs)
    expect(await desk.session()).toMatchObject({ route: 'port', process: { pid: terminal.pid } })
    await everyState('port', desk, terminal)
  })

  test('by its port: two terminals with one conversation, one of them closed', async () => {
    await using desk = await openOpencodeDesk(opencode!)
    const first = await desk.open('--port', await freePort())
    await first.shows(ready, bootMaxMs)
    await first.type('hello from the user')
    await first.shows('answer 1', bootMaxMs)
    const { conversationId } = await desk.session()
    const second = await desk.open('--port', await freePort(), '--session', conversationId)
    await second.shows('answer 1', bootMaxMs)
    const both = await desk.sessions((all) => all.length === 2)
    expect(both.map((one) => one.conversationId)).toEqual([conversationId, conversationId])
    const of = (terminal: Terminal) => both.find((one) => one.process?.pid === terminal.pid)!

    const one = wakeOf('WAKE-FIRST')
    tell('port', 'two processes, the first is meant', await desk.wake(of(first), one))
    await first.shows('WAKE-FIRST')
    await desk.prompted('WAKE-FIRST')
    expect(second.text).not.toContain('WAKE-FIRST')
    expect(desk.turnsOf(one)).toBe(1)

    await first[Symbol.asyncDispose]()
    const two = wakeOf('WAKE-SECOND')
    const closed = await desk.wake(of(first), two)
    expect(closed.end).toMatchObject({ step: 'held', detail: expect.stringContaining('does not run') })
    expect(desk.turnsOf(two)).toBe(0)
    tell('port', 'its terminal is closed', closed)
    const opened = await desk.wake(of(second), two)
    expect(opened.end.step).toBe('turn_started')
    await second.shows('WAKE-SECOND')
    await desk.prompted('WAKE-SECOND')
    expect(desk.turnsOf(two)).toBe(1)
    tell('port', 'opened again', opened)
  })

  test.skipIf(!hasRegistry())('by the plugin, without a port: every state of its terminal', async () => {
    await using desk = await openOpencodeDesk(opencode!)
    const original = desk.office.read('.config/opencode/opencode.jsonc')
    const install = await desk.office.rouse('install', 'opencode', '--profile', desk.office.profile, '--bridge')
    expect([install.code, install.stderr]).toEqual([0, ''])
    const startedAt = performance.now()
    const terminal = await desk.open()
    await terminal.shows(ready, bootMaxMs)
    console.log(`plugin: the first start with it took ${Math.round(performance.now() - startedAt)} ms`)
    await terminal.type('hello from the user')
    await terminal.shows('answer 1', bootMaxMs)
    const session = await desk.session()
    expect(session).toMatchObject({ route: 'plugin', process: { pid: terminal.pid } })
    await everyState('plugin', desk, terminal)

    // Another bridge, and another terminal with the same conversation.
    await desk.restartBridge()
    const wake = wakeOf('WAKE-SIX')
    tell('plugin', 'the bridge was started again', await desk.wake(await desk.session(), wake))
    await desk.session()
    await terminal[Symbol.asyncDispose]()
    await desk.sessions((all) => all.length === 0)
    const again = await desk.open('--continue')
    await again.shows('WAKE-SIX', bootMaxMs)
    const reopened = await desk.session()
    expect(reopened).toMatchObject({ conversationId: session.conversationId, process: { pid: again.pid } })
    expect(await desk.adapter.find(reopened, wake.id, AbortSignal.timeout(20_000))).toBe('turn_started')
    const last = wakeOf('WAKE-SEVEN')
    const opened = await desk.wake(reopened, last)
    expect(opened.end.step).toBe('turn_started')
    await again.shows('WAKE-SEVEN')
    await desk.prompted('WAKE-SEVEN')
    await desk.session()
    expect([desk.turnsOf(wake), desk.turnsOf(last)]).toEqual([1, 1])
    tell('plugin', 'opened again', opened)
    expect(await desk.office.rouse('uninstall', 'opencode')).toMatchObject({ code: 0 })
    expect(desk.office.read('.config/opencode/opencode.jsonc')).toBe(original)
    expect(existsSync(desk.office.at('.config/opencode/plugins'))).toBe(false)
  })
})

/** Idle with a draft, found again, busy, after a turn of its user, with an open approval, and passed over. Each wake has one turn in the end. */
async function everyState(route: string, desk: OpencodeDesk, terminal: Terminal): Promise<void> {
  const session = await desk.session()
  await terminal.type('half typed', { enter: false })
  const first = wakeOf('WAKE-ONE')
  const idle = await desk.wake(session, first)
  expect(idle).toMatchObject({ end: { step: 'turn_started' }, steps: ['accepted'] })
  await terminal.shows('WAKE-ONE')
  await terminal.shows('half typed')
  await desk.session()
  tell(route, 'idle, with a draft', idle)
  // Killed between the act and its record: what is there is found, and never sent again.
  expect(await desk.adapter.find(session, first.id, AbortSignal.timeout(20_000))).toBe('turn_started')
  expect((await desk.wake(session, first)).end.step).toBe('turn_started')
  expect(desk.turnsOf(first)).toBe(1)
  terminal.key('C-u')

  await terminal.type('HOLD the first')
  const second = wakeOf('WAKE-TWO')
  const busy = await desk.wake(await desk.session('active'), second)
  expect(busy.end.step).toBe('held')
  tell(route, 'a turn runs', busy)
  await desk.release()
  expect((await desk.wake(await desk.session(), second)).end.step).toBe('turn_started')
  await desk.session()

  for (const [answer, key] of [
    ['allowed', 'Enter'],
    ['refused', 'Escape'],
  ] as const) {
    await terminal.type(`SHELL ${answer}`)
    await terminal.shows(approval)
    const third = wakeOf(`WAKE-THREE-${answer}`)
    const open = await desk.wake(await desk.session('waitingOnApproval'), third)
    expect(open.end.step).toBe('held')
    expect(terminal.text).toContain(approval)
    terminal.key(key)
    const after = await desk.wake(await desk.session(), third)
    expect(after.end.step).toBe('turn_started')
    expect(existsSync(desk.office.at('project', 'made'))).toBe(true)
    await desk.session()
    expect(desk.turnsOf(third)).toBe(1)
    tell(route, `an approval is open, and is ${answer}`, open)
  }

  // Its user writes between the look and the act: the wake waits for that turn.
  const queuedAfter = async (text: string, wake: ReturnType<typeof wakeOf>) => {
    const handingOver = async () => {
      await terminal.type(text)
      await desk.held()
    }
    const said: string[] = []
    const report = (step: string) => void said.push(step)
    const waking = desk.wake(await desk.session(), wake, { handingOver, report })
    await terminal.shows('QUEUED')
    await until(
      () => said,
      (steps) => steps.includes('held'),
    )
    expect(desk.turnsOf(wake)).toBe(0)
    return { waking }
  }
  if (route === 'port') {
    const fourth = wakeOf('WAKE-FOUR')
    const { waking } = await queuedAfter('HOLD the second', fourth)
    await desk.release()
    const queued = await waking
    expect(queued.end.step).toBe('turn_started')
    await desk.session()
    expect(desk.turnsOf(fourth)).toBe(1)
    tell(route, 'after a turn of its user', queued)

    const fifth = wakeOf('WAKE-FIVE')
    const stopped = await queuedAfter('HOLD the third', fifth)
    terminal.key('Escape')
    await terminal.shows('again to interrupt')
    terminal.key('Escape')
    const passed = await stopped.waking
    expect(passed.end).toMatchObject({ step: 'held', detail: expect.stringContaining('taken back') })
    expect(desk.turnsOf(fifth)).toBe(0)
    expect(await desk.adapter.find(await desk.session(), fifth.id, AbortSignal.timeout(20_000))).toBe('absent')
    await desk.letGo()
    tell(route, 'after a turn that its user stops', passed)
    expect((await desk.wake(await desk.session(), fifth)).end.step).toBe('turn_started')
    await desk.session()
    expect(desk.turnsOf(fifth)).toBe(1)
  }
  await terminal.type('and the user again')
  await desk.prompted('and the user again')
  await desk.session()
  expect([desk.turnsOf(first), desk.turnsOf(second)]).toEqual([1, 1])
}

interface Outcome {
  readonly end: { readonly step: string }
  readonly steps: readonly string[]
  readonly ms: number
}

function tell(route: string, state: string, { end, steps, ms }: Outcome): void {
  console.log(`${route}: ${state}: ${[...steps, end.step].join(' → ')} after ${ms} ms`)
}
