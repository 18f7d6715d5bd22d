import { mkdirSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { isHeld } from './bridge-process.ts'
import { codexConfig } from './codex-config.ts'
import { screens } from './codex-desk.ts'
import { trustHooks } from './codex-server.ts'
import { program } from './programs.ts'
import { hasTerminal } from './terminal.ts'
import { openUserDesk } from './user-desk.ts'

const codex = program('codex')
const dialect = {
  tool: (name: string, input: object) => ({ tool: name, namespace: 'mcp__rouse', input: { ...input } }),
  askUser: {
    tool: 'exec_command',
    input: { cmd: 'true', sandbox_permissions: 'require_escalated', justification: 'test' },
  },
}

/** A user with Codex, as docs/bridge.md has it: installed, its hooks trusted, and a first prompt typed. Codex has no server. */
async function openCodexDesk() {
  const desk = await openUserDesk(dialect)
  const { office } = desk
  office.env.CODEX_HOME = office.at('codex')
  office.env.PATH = [dirname(codex!), office.env.PATH].join(delimiter)
  office.write('codex/config.toml', codexConfig(desk.model.url, office.at('project'), 'on-request'))
  const install = await office.rouse('install', 'codex', '--profile', office.profile, '--approve-tools')
  expect([install.code, install.stderr]).toEqual([0, ''])
  await trustHooks(codex!, office.at('project'), office.env)
  desk.configure('codex')
  const openTerminal = async (...argv: string[]) => {
    const terminal = desk.open(codex!, ...argv)
    await terminal.shows(screens.ready)
    return terminal
  }
  const terminal = await openTerminal()
  await terminal.type('the first prompt')
  await terminal.shows('I wait for work.')
  return { ...desk, terminal, openTerminal, [Symbol.asyncDispose]: () => desk[Symbol.asyncDispose]() }
}

type CodexDesk = Awaited<ReturnType<typeof openCodexDesk>>

/** @eve has one answer to her mail, and one turn was begun for it. */
async function expectOneTurn(desk: CodexDesk, messageId: string, subject: string): Promise<void> {
  expect(await desk.answered(messageId)).toBe(1)
  expect(desk.model.turnsWith(subject)).toBe(1)
}

describe.skipIf(codex === undefined || !hasTerminal())('A user of Codex and rouse bridge', () => {
  test('mail is answered from an idle terminal with a draft, after a question, after a refusal, and after the terminal was closed', async () => {
    await using desk = await openCodexDesk()
    const { terminal } = desk
    const bridge = await desk.startBridge()
    await terminal.type('half a thought', { enter: false })
    const first = await desk.send('The first mail')
    await expectOneTurn(desk, first, 'The first mail')
    await desk.receipt(first, 'turn_started')
    await terminal.shows('half a thought')
    terminal.key('C-u')

    await terminal.type('ASK')
    await terminal.shows(screens.approval)
    const second = await desk.send('The second mail')
    const held = await bridge.step(isHeld(/waiting_on_approval|answer of its user/))
    console.log(`a question is open: ${held.detail}`)
    expect(held.detail).not.toContain('in the queue')
    expect(desk.model.turnsWith('The second mail')).toBe(0)
    await terminal.shows(screens.approval)
    terminal.key('y')
    await expectOneTurn(desk, second, 'The second mail')

    await terminal.type('ASK again')
    await terminal.shows(screens.approval)
    const refused = await desk.send('The mail before a refusal')
    await bridge.step(
      ({ eventId, ...step }) => eventId !== held.eventId && isHeld(/waiting_on_approval/)({ eventId, ...step }),
    )
    terminal.key('Escape')
    await terminal.type('go on')
    await expectOneTurn(desk, refused, 'The mail before a refusal')

    const id = conversationOf(await desk.office.rouse('bridge', 'status', '--json'))
    await terminal[Symbol.asyncDispose]()
    const third = await desk.send('The third mail')
    const closed = await bridge.step(isHeld(/closed|no conversation/))
    console.log(`its terminal is closed: ${closed.detail}`)
    await desk.openTerminal('resume', id)
    await expectOneTurn(desk, third, 'The third mail')
    expect([desk.model.turnsWith('The first mail'), desk.model.turnsWith('The second mail')]).toEqual([1, 1])
  })

  test('a bridge that is killed with a wake on its way, and started again, begins one turn', async () => {
    await using desk = await openCodexDesk()
    for (const [subject, arrange] of [
      ['Killed before the turn', 'routed'],
      ['Killed with the turn', 'turn'],
    ] as const) {
      const bridge = await desk.startBridge()
      if (arrange === 'routed') bridge.onStep(({ step }) => step === 'routed' && bridge.kill())
      else desk.model.onTurn(({ prompt }) => prompt.includes(subject) && bridge.kill())
      const mail = await desk.send(subject)
      await bridge.exited
      await using _again = await desk.startBridge()
      await expectOneTurn(desk, mail, subject)
      await desk.receipt(mail, 'turn_started')
    }
    // It stays in the queue of Codex, and has its turn while no bridge runs.
    await desk.terminal.type('HOLD')
    await until(() => desk.model.holding.length, Boolean)
    const bridge = await desk.startBridge()
    const mail = await desk.send('Killed with the wake in the queue')
    await bridge.step(({ step, source }) => step === 'held' && source !== undefined)
    bridge.kill()
    await bridge.exited
    desk.model.release()
    expect(await desk.answered(mail)).toBe(1)
    await using again = await desk.startBridge()
    await again.step(({ step }) => step === 'turn_started')
    await expectOneTurn(desk, mail, 'Killed with the wake in the queue')
  })

  test('a gateway that was killed and started again, a key that is taken away and given anew, a wrong directory', async () => {
    await using desk = await openCodexDesk()
    const { office, gateway } = desk
    {
      await using bridge = await desk.startBridge()
      await gateway.kill('SIGKILL')
      await bridge.says(/Trying again/)
      await gateway.restart()
      const mail = await desk.send('After the restart')
      await expectOneTurn(desk, mail, 'After the restart')

      const { body: before } = await gateway.call('GET', '/v1/agents/donna/keys')
      const { body: made } = await gateway.call('POST', '/v1/agents/donna/keys', {})
      await gateway.call('DELETE', `/v1/agents/donna/keys/${before.keys[0].keyId}`)
      await bridge.says(/its key is not valid any more.*rouse login --profile/)
      const again = await desk.send('With another key')
      office.write('donna.key', made.apiKey, 0o600)
      const login = ['login', '--profile', office.profile, '--url', gateway.url, '--key-file', office.at('donna.key')]
      expect((await office.rouse(...login)).stderr).toBe('')
      await expectOneTurn(desk, again, 'With another key')
    }
    const elsewhere = office.at('elsewhere')
    mkdirSync(elsewhere)
    desk.configure('codex', { directories: [elsewhere] })
    const bridge = await desk.startBridge()
    const mail = await desk.send('In another directory')
    const held = await bridge.step(({ step }) => step === 'held' || step === 'misaddressed')
    console.log(`another directory: ${held.step}: ${held.detail}`)
    expect(held.detail).toMatch(/directory/)
    expect(desk.model.turnsWith('In another directory')).toBe(0)
    desk.configure('codex')
    await bridge[Symbol.asyncDispose]()
    await desk.startBridge()
    expect(await desk.answered(mail)).toBe(1)
  })
})

function conversationOf({ stdout }: { stdout: string }): string {
  const { harnesses } = JSON.parse(stdout) as { harnesses: { conversations: { conversationId: string }[] }[] }
  const [first] = harnesses.flatMap(({ conversations }) => conversations)
  return first!.conversationId
}
