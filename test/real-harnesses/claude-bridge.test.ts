import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { isHeld } from './bridge-process.ts'
import { prepareClaude } from './claude-config.ts'
import { claudeProgram, claudeVersion } from './programs.ts'
import { keepScreen } from './screens.ts'
import { hasTerminal } from './terminal.ts'
import { openUserDesk } from './user-desk.ts'

const claude = claudeProgram()
const bootMaxMs = 60_000
const approval = 'Do you want to proceed?'
const dialect = {
  tool: (name: string, input: object) => ({ tool: `mcp__rouse__${name}`, input: { ...input } }),
  askUser: { tool: 'Bash', input: { command: 'touch made', description: 'make a file' } },
}
const bridgeOptions = {
  monitor: ['--bridge'],
  rewake: ['--bridge', '--bridge-way', 'hooks'],
  inbox: ['--no-bridge'],
  tmux: ['--no-bridge'],
} as const
/** As the test of the recorded screens names them. */
const screenNames = { idle: 'idle', userTyping: 'draft', active: 'busy', waitingOnApproval: 'approval' } as const

type State = 'idle' | 'userTyping' | 'active' | 'waitingOnApproval'

interface Harness {
  readonly conversations: readonly { readonly state: string; readonly route?: string }[]
}

/** A user with Claude Code in a terminal that nobody has typed in. What it does is read from `rouse bridge status`. */
async function openClaudeDesk(way: keyof typeof bridgeOptions) {
  const desk = await openUserDesk(dialect)
  const { office, model } = desk
  prepareClaude(office, claude!, model.url)
  const argv = ['install', 'claude', '--profile', office.profile, '--approve-tools', ...bridgeOptions[way]]
  const install = await office.rouse(...argv)
  expect([install.code, install.stderr]).toEqual([0, ''])
  const open = () => desk.open(claude!, '--permission-mode', 'default')
  // The configuration names the server of tmux: that terminal is open before the bridge starts, the others after.
  const early = way === 'tmux' ? open() : undefined
  if (early) desk.configure('tmux', { settings: { socketPath: early.socketPath } })
  else desk.configure('claude', { settings: { inbox: way === 'inbox' } })
  const bridge = await desk.startBridge()
  const terminal = early ?? open()
  const conversations = async (): Promise<Harness['conversations']> => {
    const { harnesses } = JSON.parse((await office.rouse('bridge', 'status', '--json')).stdout)
    return harnesses.flatMap((one: Harness) => one.conversations)
  }
  const becomes = async (state: State) => {
    const isSo = ([only]: Harness['conversations']) => only?.state === state && only.route === way
    await until(conversations, isSo, bootMaxMs, 500)
    if (way === 'tmux') keepScreen(`claude-${claudeVersion(claude!)}-${screenNames[state]}`, terminal.look())
  }
  /** Mail that comes in a state begins no turn. After `end` it begins one. */
  const holds = async (state: State, subject: string, reason: RegExp, end: () => unknown) => {
    await becomes(state)
    const id = await desk.send(subject)
    await bridge.step(isHeld(reason))
    expect(model.turnsWith(subject)).toBe(0)
    await end()
    expect(await desk.answered(id)).toBe(1)
    expect(model.turnsWith(subject)).toBe(1)
    await becomes('idle')
  }
  if (way === 'inbox') {
    // The bridge does not use it before a prompt has told the permission mode.
    await until(conversations, ([only]) => only?.state === 'idle' && only.route === undefined, bootMaxMs, 500)
    await terminal.type('hello')
  }
  await becomes('idle')
  return {
    ...desk,
    bridge,
    terminal,
    becomes,
    holds,
    holdsWhileItWorks: async () => {
      await terminal.type('HOLD')
      await until(() => model.holding.length, Boolean)
      await holds('active', 'Mail during a turn', /^turn_active/, model.release)
    },
    holdsWhileItAsks: async () => {
      await terminal.type('ASK')
      await holds('waitingOnApproval', 'Mail during a question', /^waiting_on_approval/, async () => {
        await terminal.shows(approval)
        // A question takes no key in its first moment.
        const press = () => {
          terminal.key('Enter')
          return terminal.text
        }
        await until(press, (screen) => !screen.includes(approval), undefined, 500)
      })
    },
  }
}

describe.skipIf(claude === undefined || !hasTerminal())('A user of Claude Code and rouse bridge', () => {
  test.each(['monitor', 'rewake', 'inbox'] as const)(
    'by the %s: idle, with a draft, busy, and while it asks',
    async (way) => {
      await using desk = await openClaudeDesk(way)
      const { bridge, model, terminal } = desk
      // By the monitor and the rewake, a session that has had no prompt is woken too.
      const first = await desk.send('The first mail')
      expect(await desk.answered(first)).toBe(1)
      await desk.receipt(first, 'turn_started')
      const proof = await bridge.step(({ step }) => step === 'turn_started')
      expect(proof.detail).toMatch(/^the hook UserPromptSubmit of turn /)

      await desk.becomes('idle')
      await terminal.type('half a thought', { enter: false })
      const second = await desk.send('The second mail')
      expect(await desk.answered(second)).toBe(1)
      await desk.becomes('idle')
      await terminal.shows('half a thought')
      terminal.key('C-u')

      await desk.holdsWhileItWorks()
      await desk.holdsWhileItAsks()
      expect(['The first mail', 'The second mail'].map(model.turnsWith)).toEqual([1, 1])
    },
  )

  test('by a line that is typed in tmux: idle, while its user types, busy, and while it asks', async () => {
    await using desk = await openClaudeDesk('tmux')
    const { model, terminal } = desk
    const first = await desk.send('The first mail')
    expect(await desk.answered(first)).toBe(1)
    await desk.receipt(first, 'turn_started')

    await desk.becomes('idle')
    await terminal.type('half a thought', { enter: false })
    await desk.holds('userTyping', 'Mail for a draft', /^user_typing/, () => {
      expect(terminal.text).toContain('half a thought')
      terminal.key('C-u')
    })
    await desk.holdsWhileItWorks()
    await desk.holdsWhileItAsks()
    expect(model.turnsWith('The first mail')).toBe(1)
  })
})
