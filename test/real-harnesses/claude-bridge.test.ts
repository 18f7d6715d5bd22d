import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { openClaudeDesk } from './claude-desk.ts'
import { claudeProgram } from './programs.ts'
import { hasTerminal } from './terminal.ts'

const claude = claudeProgram()
/** The shortest silence that a nudge follows. Two looks of the gateway, half a minute apart, must find it. */
const silentSeconds = 60
const nudgeMaxMs = 4 * 60_000

describe.skipIf(claude === undefined || !hasTerminal())('A user of Claude Code and rouse bridge', () => {
  test.each(['monitor', 'rewake', 'inbox'] as const)(
    'by the %s: idle, with a draft, busy, and while it asks',
    async (way) => {
      await using desk = await openClaudeDesk(claude!, way)
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
    await using desk = await openClaudeDesk(claude!, 'tmux')
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

  test('a nudge begins a turn for mail that its model has left unread', { timeout: 2 * nudgeMaxMs }, async () => {
    await using desk = await openClaudeDesk(claude!, 'monitor')
    const { gateway, model } = desk
    const gate = { settings: { staleAfterSeconds: silentSeconds } }
    expect((await gateway.call('PATCH', '/v1/gate', gate)).status).toBe(200)
    const id = await desk.send('LATER')
    await desk.receipt(id, 'turn_started')
    await until(() => model.turnsWith('The gateway reminds you: you have 1 unread message'), Boolean, nudgeMaxMs)
    expect(await desk.answered(id)).toBe(1)
    await desk.becomes('idle')
    expect([model.turnsWith('LATER'), model.turnsWith('The gateway reminds you')]).toEqual([1, 1])
  })
})
