import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { isHeld } from './bridge-process.ts'
import { opencodeConfig, opencodeQuiet } from './opencode-config.ts'
import { freePort } from './opencode-desk.ts'
import { hasRegistry, program } from './programs.ts'
import { hasTerminal } from './terminal.ts'
import { openUserDesk } from './user-desk.ts'

const opencode = program('opencode')
const ready = 'Ask anything'
const approval = 'Permission required'
const bootMaxMs = 90_000
const dialect = {
  tool: (name: string, input: object) => ({ tool: `rouse_${name}`, input: { ...input } }),
  askUser: { tool: 'bash', input: { command: 'true', description: 'do nothing' } },
}

/** A user with OpenCode, as docs/bridge.md has it, after a first prompt. `argv`: of OpenCode. */
async function openOpencodeDesk(install: readonly string[], argv: readonly string[]) {
  const desk = await openUserDesk(dialect)
  const { office } = desk
  Object.assign(office.env, opencodeQuiet)
  const ask = '\n  "permission": { "bash": "ask" },'
  office.write('.config/opencode/opencode.jsonc', opencodeConfig(desk.model.url, ask))
  const installed = await office.rouse('install', 'opencode', '--profile', office.profile, ...install)
  expect([installed.code, installed.stderr]).toEqual([0, ''])
  desk.configure('opencode')
  const openTerminal = async (...more: string[]) => {
    const terminal = desk.open(opencode!, ...argv, ...more)
    if (more.length === 0) await terminal.shows(ready, bootMaxMs)
    return terminal
  }
  const terminal = await openTerminal()
  await terminal.type('the first prompt')
  await terminal.shows('I wait for work.', bootMaxMs)
  return { ...desk, terminal, openTerminal, [Symbol.asyncDispose]: () => desk[Symbol.asyncDispose]() }
}

const canRun = opencode !== undefined && hasTerminal()
const ways = [
  ['by its port', [], true],
  ['by the plugin', ['--bridge'], hasRegistry()],
] as const

describe.each(ways.filter(([, , isThere]) => canRun && isThere))(
  'A user of OpenCode and rouse bridge, %s',
  (_way, install) => {
    test('mail is answered once: idle with a draft, busy, a question, killed bridges, closed and opened again', async () => {
      const port = ['--port', await freePort()]
      await using desk = await openOpencodeDesk(install, install.length > 0 ? [] : port)
      const { terminal, model } = desk
      const subjects: string[] = []
      const send = (subject: string) => {
        subjects.push(subject)
        return desk.send(subject)
      }
      let bridge = await desk.startBridge()
      await terminal.type('half a thought', { enter: false })
      const first = await send('The first mail')
      expect(await desk.answered(first)).toBe(1)
      await desk.receipt(first, 'turn_started')
      await terminal.shows('half a thought')
      terminal.key('C-u')

      await terminal.type('HOLD')
      await until(() => model.holding.length, Boolean)
      const second = await send('The second mail')
      await bridge.step(isHeld(/turn_active/))
      expect(model.turnsWith('The second mail')).toBe(0)
      model.release()
      expect(await desk.answered(second)).toBe(1)

      await terminal.type('ASK')
      await terminal.shows(approval)
      const third = await send('The third mail')
      await bridge.step(isHeld(/waiting_on_approval/))
      expect(terminal.text).toContain(approval)
      terminal.key('Enter')
      expect(await desk.answered(third)).toBe(1)

      for (const [subject, when] of [
        ['Killed before the turn', 'routed'],
        ['Killed with the turn', 'turn'],
      ] as const) {
        const doomed = bridge
        if (when === 'routed') doomed.onStep(({ step }) => step === 'routed' && doomed.kill())
        else model.onTurn(({ prompt }) => prompt.includes(subject) && doomed.kill())
        const mail = await send(subject)
        await doomed.exited
        bridge = await desk.startBridge()
        expect(await desk.answered(mail)).toBe(1)
        await desk.receipt(mail, 'turn_started')
      }

      const expectOneTurnEach = () => expect(subjects.map(model.turnsWith)).toEqual(subjects.map(() => 1))
      // By its port a conversation that is opened again is known when its user has written.
      if (install.length === 0) return expectOneTurnEach()

      await terminal[Symbol.asyncDispose]()
      const last = await send('The last mail')
      const closed = await bridge.step(isHeld(/no conversation/))
      console.log(`its terminal is closed: ${closed.detail}`)
      await desk.openTerminal('--continue')
      expect(await desk.answered(last)).toBe(1)
      await desk.receipt(last, 'turn_started')
      expectOneTurnEach()
    })
  },
)
