import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { isHeld } from './bridge-process.ts'
import { prepareClaude } from './claude-config.ts'
import { installedClaude } from './programs.ts'
import { hasTerminal } from './terminal.ts'
import { openUserDesk } from './user-desk.ts'

const claude = installedClaude()
const bootMaxMs = 60_000
const dialect = {
  tool: (name: string, input: object) => ({ tool: `mcp__rouse__${name}`, input: { ...input } }),
  askUser: { tool: 'Bash', input: { command: 'touch made', description: 'make a file' } },
}

interface Conversation {
  readonly state: string
  readonly route?: string
}

/** A user with Claude Code in a terminal that nobody has typed in. Only what `rouse bridge status` says is read, not its screen. */
async function openClaudeDesk(way: 'monitor' | 'rewake') {
  const desk = await openUserDesk(dialect)
  const { office } = desk
  prepareClaude(office, claude!, desk.model.url)
  const ways = way === 'rewake' ? ['--bridge-way', 'hooks'] : []
  const argv = ['install', 'claude', '--profile', office.profile, '--approve-tools', '--bridge', ...ways]
  const install = await office.rouse(...argv)
  expect([install.code, install.stderr]).toEqual([0, ''])
  desk.configure('claude')
  const bridge = await desk.startBridge()
  const terminal = desk.open(claude!, '--permission-mode', 'default')
  const conversation = async (): Promise<Conversation | undefined> => {
    const { harnesses } = JSON.parse((await office.rouse('bridge', 'status', '--json')).stdout)
    return harnesses.flatMap((one: { conversations: Conversation[] }) => one.conversations)[0]
  }
  const becomes = (state: string) =>
    until(conversation, (now) => now?.state === state && now.route === way, bootMaxMs, 500)
  await becomes('idle')
  return { ...desk, bridge, terminal, becomes, [Symbol.asyncDispose]: () => desk[Symbol.asyncDispose]() }
}

describe.skipIf(claude === undefined || !hasTerminal())('A user of Claude Code and rouse bridge', () => {
  test.each(['monitor', 'rewake'] as const)('by the %s: idle, with a draft, busy, and while it asks', async (way) => {
    await using desk = await openClaudeDesk(way)
    const { bridge, model, terminal } = desk
    // A session that has had no prompt is woken too.
    const first = await desk.send('The first mail')
    expect(await desk.answered(first)).toBe(1)
    await desk.receipt(first, 'turn_started')
    const proof = await bridge.step(({ step }) => step === 'turn_started')
    expect(proof.detail).toMatch(/^the hook UserPromptSubmit of turn /)

    await desk.becomes('idle')
    await terminal.type('half a thought', { enter: false })
    const second = await desk.send('The second mail')
    expect(await desk.answered(second)).toBe(1)
    await terminal.shows('half a thought')
    terminal.key('C-u')

    await desk.becomes('idle')
    await terminal.type('HOLD')
    await until(() => model.holding.length, Boolean)
    const third = await desk.send('The third mail')
    await bridge.step(isHeld(/a turn runs/))
    expect(model.turnsWith('The third mail')).toBe(0)
    model.release()
    expect(await desk.answered(third)).toBe(1)

    await desk.becomes('idle')
    await terminal.type('ASK')
    const fourth = await desk.send('The fourth mail')
    await bridge.step(isHeld(/waits for its user/))
    expect(model.turnsWith('The fourth mail')).toBe(0)
    terminal.key('Enter')
    expect(await desk.answered(fourth)).toBe(1)
    const subjects = ['The first mail', 'The second mail', 'The third mail', 'The fourth mail']
    expect(subjects.map(model.turnsWith)).toEqual([1, 1, 1, 1])
  })
})
