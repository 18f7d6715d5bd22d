import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { processStart } from '../../../../src/bridge/processes.ts'
import { until } from '../../../support/until.ts'
import { attempt, aWake } from '../../adapter-tools.ts'
import { lookOf, openMac } from './mac.ts'

const never = new AbortController().signal
const sessionOf = async ({ adapter }: ReturnType<typeof openMac>) => (await adapter.probe(never)).sessions[0]!

test('a wake is pasted once into the window of its process, as one argument', async () => {
  const mac = openMac()
  const session = await sessionOf(mac)
  expect(session).toMatchObject({
    conversationId: 'process 703',
    cwd: '/Users/donna/app',
    process: { pid: 703, startedAt: '2026-11-22T09:00:05.000Z' },
    state: 'unknown',
    route: 'osascript',
  })
  const wake = aWake({ subject: '"; $.system("rm -rf ~") \'' })
  const { tools, steps } = attempt({}, 'written')
  expect(await mac.adapter.wake(session, wake, tools)).toMatchObject({ step: 'written' })
  expect(steps).toEqual(['handing over: osascript', 'written'])
  const target = ['700', '/System/Applications/Utilities/Terminal.app', 'leave']
  expect(mac.calls()).toEqual([
    ['look', ...target],
    ['write', ...target, '99-12345', '/dev/ttys003', expect.stringContaining(`[Rouse ${wake.id}]`)],
  ])
  expect(existsSync(mac.lockPath)).toBe(false)
})

test('a hook that names the wake proves that its turn began', async () => {
  const mac = openMac()
  const wake = aWake()
  mac.clients.report({ wakeId: wake.id, step: 'turn_started', proof: 'UserPromptSubmit' })
  expect(await mac.adapter.wake(await sessionOf(mac), wake, attempt().tools)).toEqual({
    step: 'turn_started',
    detail: 'UserPromptSubmit',
  })
  expect(await mac.adapter.find(await sessionOf(mac), wake.id, never)).toBe('turn_started')
  expect(await mac.adapter.find(await sessionOf(mac), aWake().id, never)).toBe('unknown')
})

test.each([
  ['another window in front', { says: { isFront: false } }, 'the window of Terminal is not in front'],
  ['a dialog', { says: lookOf({ sheets: 1 }) }, 'a dialog'],
  ['garbage', { says: 'osascript: 7' }, 'what is in front cannot be read'],
  ['a failure', { stderr: 'execution error: Error: Invalid index. (-1719)' }, 'what is in front cannot be read'],
])('nothing is pasted where a look shows %s', async (_what, look, detail) => {
  const mac = openMac()
  mac.order(look)
  const { tools, steps } = attempt()
  expect(await mac.adapter.wake(await sessionOf(mac), aWake(), tools)).toMatchObject({
    step: 'held',
    detail: expect.stringContaining(detail),
  })
  expect(steps).toEqual([])
  expect(mac.calls().map(([act]) => act)).toEqual(['look'])
})

test('a missing permission is a remark with its remedy, until it is given', async () => {
  const mac = openMac()
  mac.order({ stderr: 'execution error: Error: Not authorized to send Apple events to System Events. (-1743)' })
  const session = await sessionOf(mac)
  expect(await mac.adapter.wake(session, aWake(), attempt().tools)).toMatchObject({ step: 'held' })
  expect((await mac.adapter.probe(never)).remarks).toEqual([expect.stringContaining('Privacy & Security')])
  mac.order({ says: lookOf() })
  expect(await mac.adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({ step: 'written' })
  expect((await mac.adapter.probe(never)).remarks).toEqual([])
})

test.each([
  ['the window changed', { says: { did: 'nothing' } }, 'held'],
  ['the line was not shown', { says: { did: 'pasted' } }, 'unknown'],
  ['garbage', { says: '' }, 'unknown'],
  ['a failure', { stderr: 'execution error: Error: x (-1743)' }, 'unknown'],
  ['silence', { hangs: true }, 'unknown'],
] as const)('the act is never done again: %s', async (_what, write, step) => {
  const mac = openMac({ scriptMs: 3_000 })
  mac.order({ says: lookOf() }, write)
  expect(await mac.adapter.wake(await sessionOf(mac), aWake(), attempt().tools)).toMatchObject({ step })
  expect(mac.calls().filter(([act]) => act === 'write')).toHaveLength(1)
})

test('a look that hangs ends with the bridge', async () => {
  const mac = openMac()
  mac.order({ hangs: true })
  const { tools, stop } = attempt()
  const ending = mac.adapter.wake(await sessionOf(mac), aWake(), tools)
  await until(mac.calls, ({ length }) => length === 1)
  stop()
  expect(await ending).toMatchObject({ step: 'held' })
  await mac.adapter[Symbol.asyncDispose]()
})

test('two wakes are pasted one after the other', async () => {
  const mac = openMac()
  const session = await sessionOf(mac)
  await Promise.all([1, 2].map(() => mac.adapter.wake(session, aWake(), attempt({}, 'written').tools)))
  expect(mac.calls().map(([act]) => act)).toEqual(['look', 'write', 'look', 'write'])
})

test('a lock of a process that lives holds a wake; that of a dead one does not', async () => {
  const mac = openMac()
  const session = await sessionOf(mac)
  mkdirSync(dirname(mac.lockPath), { recursive: true })
  writeFileSync(mac.lockPath, `${process.pid} ${processStart(process.pid)?.startedAt} x`)
  expect(await mac.adapter.wake(session, aWake(), attempt().tools)).toMatchObject({ step: 'held' })
  expect(mac.calls()).toEqual([])
  writeFileSync(mac.lockPath, `${process.pid} 2020-01-01T00:00:00.000Z x`)
  expect(await mac.adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({ step: 'written' })
})

test('a process that has ended is misaddressed, and one that works is left alone', async () => {
  const mac = openMac()
  const session = await sessionOf(mac)
  const report = { harness: 'claude', conversationId: 'c1', event: 'UserPromptSubmit', at: 0 }
  mac.clients.conversations.push({ ...report, state: 'active', process: session.process! })
  expect(await sessionOf(mac)).toMatchObject({ state: 'active' })
  expect(await mac.adapter.wake(session, aWake(), attempt().tools)).toMatchObject({ step: 'held' })
  mac.end(703)
  expect(await mac.adapter.wake(session, aWake(), attempt().tools)).toMatchObject({ step: 'misaddressed' })
  expect(mac.calls()).toEqual([])
})

test('an application that does not name its tab is shown with the remedy, and not reached', async () => {
  const mac = openMac()
  const { sessions } = await mac.adapter.probe(never)
  const editor = sessions.find(({ conversationId }) => conversationId === 'process 803')!
  expect(editor).toMatchObject({ remark: expect.stringContaining('tmux') })
  expect(editor.route).toBeUndefined()
  expect(await mac.adapter.wake(editor, aWake(), attempt().tools)).toMatchObject({ step: 'held' })
  expect(mac.calls()).toEqual([])
})

test('the window is brought to the front only where its user allows it', async () => {
  const mac = openMac({ settings: { bringToFront: true } })
  await mac.adapter.wake(await sessionOf(mac), aWake(), attempt({}, 'written').tools)
  expect(mac.calls()[0]).toEqual(['look', '700', expect.any(String), 'bring'])
})

test('elsewhere than on macOS it says so, and starts nothing', async () => {
  const mac = openMac({ platform: 'linux' })
  expect(await mac.adapter.probe(never)).toEqual({
    isThere: false,
    sessions: [],
    remarks: [expect.stringContaining('macOS')],
  })
  const session = await sessionOf(openMac())
  expect(await mac.adapter.wake(session, aWake(), attempt().tools)).toMatchObject({ step: 'failed' })
  expect(mac.calls()).toEqual([])
})
