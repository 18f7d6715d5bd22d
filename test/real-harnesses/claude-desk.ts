import { expect } from 'vitest'
import { until } from '../support/until.ts'
import { isHeld } from './bridge-process.ts'
import { prepareClaude } from './claude-config.ts'
import { claudeVersion } from './programs.ts'
import { keepScreen } from './screens.ts'
import { openUserDesk } from './user-desk.ts'

const bootMaxMs = 60_000
const approval = 'Do you want to proceed?'
export const claudeDialect = {
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
export async function openClaudeDesk(claude: string, way: keyof typeof bridgeOptions) {
  const desk = await openUserDesk(claudeDialect)
  const { office, model } = desk
  prepareClaude(office, claude, model.url)
  const argv = ['install', 'claude', '--profile', office.profile, '--approve-tools', ...bridgeOptions[way]]
  const install = await office.rouse(...argv)
  expect([install.code, install.stderr]).toEqual([0, ''])
  const open = () => desk.open(claude, '--permission-mode', 'default')
  // The configuration names the server of tmux: that terminal is open before the bridge starts, the others after.
  const early = way === 'tmux' ? open() : undefined
  if (early) desk.configure('tmux', { settings: { socketPath: early.socketPath } })
  else desk.configure('claude', { settings: { inbox: way === 'inbox' } })
  const bridge = await desk.startBridge()
  const terminal = early ?? open()
  const conversations = async (): Promise<Harness['conversations']> => {
    const { code, stdout, stderr } = await office.rouse('bridge', 'status', '--json')
    if (code !== 0) throw new Error(`${stderr}\n${bridge.notes()}`)
    const { harnesses } = JSON.parse(stdout)
    return harnesses.flatMap((one: Harness) => one.conversations)
  }
  const becomes = async (state: State) => {
    const isSo = ([only]: Harness['conversations']) => only?.state === state && only.route === way
    await until(conversations, isSo, bootMaxMs, 500)
    if (way === 'tmux') keepScreen(`claude-${claudeVersion(claude)}-${screenNames[state]}`, terminal.look())
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
