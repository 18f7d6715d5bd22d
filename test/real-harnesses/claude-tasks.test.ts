import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { claudeProgram } from './programs.ts'
import { onceWith, openTaskDesk, quietMs, sent } from './task-desk.ts'
import { hasTerminal } from './terminal.ts'

const claude = claudeProgram()
/** The number of ends that are tried one after another. */
const ends = Number(process.env.ROUSE_TEST_ENDS ?? 10)
/** The times for which the gateway is away, in ms. */
const outages = [9_000, 60_000]

describe.skipIf(claude === undefined || !hasTerminal())('Claude Code with the MCP entry alone', () => {
  test('the end of a task begins a turn in an idle session, with a draft, and after a turn that was under way', async () => {
    await using desk = await openTaskDesk(claude!)
    const terminal = await desk.open()
    const first = await sent(desk, terminal, 'alpha')
    const doneAt = await desk.complete(first, 'alpha is done')
    const began = await onceWith(desk, 'alpha is done')
    expect(began - doneAt).toBeLessThan(1_000)
    expect(desk.turns.at(-1)!.prompt).toMatch(/The task \S+ that you sent is completed/)

    const second = await sent(desk, terminal, 'beta')
    await terminal.type('half a thought', { enter: false })
    await desk.complete(second, 'beta is done')
    await onceWith(desk, 'beta is done')
    await terminal.shows('half a thought')
    terminal.key('C-u')

    const third = await sent(desk, terminal, 'gamma')
    await terminal.type('HOLD')
    await until(() => desk.holding.length, Boolean)
    await desk.complete(third, 'gamma is done')
    await new Promise((resolve) => setTimeout(resolve, quietMs))
    expect(desk.turns.filter(({ prompt }) => prompt.includes('gamma is done'))).toEqual([])
    desk.release()
    await onceWith(desk, 'gamma is done')
  })

  test('Esc and /clear lose no end', async () => {
    await using desk = await openTaskDesk(claude!)
    const terminal = await desk.open()
    const first = await sent(desk, terminal, 'alpha')
    await terminal.type('HOLD')
    await until(() => desk.holding.length, Boolean)
    await desk.complete(first, 'alpha is done')
    terminal.key('Escape')
    await desk.turnWith('alpha is done')
    desk.release()
    // Esc has put the prompt back.
    terminal.key('C-u')

    const second = await sent(desk, terminal, 'beta')
    await terminal.type('/clear')
    await new Promise((resolve) => setTimeout(resolve, quietMs))
    await desk.complete(second, 'beta is done')
    await onceWith(desk, 'beta is done')
  })

  test(`${ends} of ${ends} ends begin a turn, each once, within a second`, { timeout: 1_200_000 }, async () => {
    await using desk = await openTaskDesk(claude!)
    const terminal = await desk.open()
    const tookMs: number[] = []
    for (let number = 1; number <= ends; number++) {
      const id = await sent(desk, terminal, `work${number}x`)
      const doneAt = await desk.complete(id, `work${number}x is done`)
      const [turn] = await desk.turnWith(`work${number}x is done`)
      tookMs.push(Math.round(turn!.at - doneAt))
    }
    const sorted = tookMs.toSorted((a, b) => a - b)
    console.log(`Claude Code: end to turn, median ${sorted[ends >> 1]} ms, slowest ${sorted.at(-1)} ms, of ${ends}`)
    for (let number = 1; number <= ends; number++) {
      const began = desk.turns.filter(({ prompt }) => prompt.includes(`work${number}x is done`))
      expect(began).toHaveLength(1)
    }
    expect(sorted.at(-1)).toBeLessThan(1_000)
  })

  test('an end that comes while the program is killed begins a turn when its conversation is resumed, also with another key', async () => {
    await using desk = await openTaskDesk(claude!)
    const { gateway, office } = desk
    const terminal = await desk.open()
    const first = await sent(desk, terminal, 'alpha')
    process.kill(terminal.pid, 'SIGKILL')
    await until(desk.followers, ([one]) => one?.isPolled === false)
    await desk.complete(first, 'alpha is done')
    const resumed = await desk.open('--continue')
    await onceWith(desk, 'alpha is done')

    const second = await sent(desk, resumed, 'beta')
    process.kill(resumed.pid, 'SIGKILL')
    const { body: old } = await gateway.call('GET', '/v1/whoami', undefined, { key: office.agent.key })
    const { body: made } = await gateway.call('POST', '/v1/agents/donna/keys', {})
    const profiles = desk.profile()
    profiles.profiles[office.profile].key = made.apiKey
    writeFileSync(office.at('.config/rouse/profiles.json'), JSON.stringify(profiles), { mode: 0o600 })
    await gateway.call('DELETE', `/v1/agents/donna/keys/${old.keyId}`)
    await desk.complete(second, 'beta is done')
    await desk.open('--continue')
    await onceWith(desk, 'beta is done')
  })

  test.each(outages)(
    'the gateway is killed after the end, and away for %i ms: one turn, and none is lost',
    async (ms) => {
      await using desk = await openTaskDesk(claude!)
      const terminal = await desk.open()
      const id = await sent(desk, terminal, 'alpha')
      await desk.complete(id, 'alpha is done')
      await desk.gateway.kill('SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, ms))
      await desk.gateway.restart()
      await onceWith(desk, 'alpha is done', 90_000)
    },
  )

  test('a wait for mail is armed again after each, and each message is read once', async () => {
    await using desk = await openTaskDesk(claude!)
    const terminal = await desk.open()
    await terminal.type('WAIT')
    for (let number = 1; number <= 3; number++) {
      await until(desk.followers, (all) => all.some(({ taskId, isPolled }) => taskId === null && isPolled))
      const id = await desk.send(`Mail ${number}`)
      await desk.acked(id)
    }
    expect(desk.turns.filter(({ prompt }) => prompt.includes('Mail has come'))).toHaveLength(3)
  })
})
