import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { openApprovalDesk } from './approval-desk.ts'
import { codexConfig } from './codex-config.ts'
import { screens } from './codex-desk.ts'
import { trustHooks } from './codex-server.ts'
import { program } from './programs.ts'
import { hasTerminal } from './terminal.ts'

const codex = program('codex')
const races = Number(process.env.ROUSE_TEST_RACES ?? 50)
const dialogMaxMs = 1_500

async function openCodex() {
  const desk = await openApprovalDesk({
    run: (cmd) => ({
      tool: 'exec_command',
      input: { cmd, sandbox_permissions: 'require_escalated', justification: 'to make a file' },
    }),
  })
  const { office, model } = desk
  office.env.CODEX_HOME = office.at('codex')
  office.env.PATH = [dirname(codex!), office.env.PATH].join(delimiter)
  office.write('codex/config.toml', codexConfig(model.url, office.at('project'), 'on-request'))
  const install = await office.rouse('install', 'codex', '--profile', office.profile)
  expect([install.code, install.stderr]).toEqual([0, ''])
  await trustHooks(codex!, office.at('project'), office.env)
  const open = async (...argv: string[]) => {
    const terminal = desk.open(codex!, ...argv)
    await terminal.shows(screens.ready)
    return terminal
  }
  return { ...desk, open }
}

/** Codex in a terminal on a server that listens, and a bridge beside it. */
async function openShared() {
  const desk = await openCodex()
  const { office } = desk
  const socket = office.at('codex.sock')
  const argv = ['app-server', '--listen', `unix://${socket}`]
  const server = spawn(codex!, argv, { env: office.env, cwd: office.at('project'), stdio: 'ignore' })
  await until(() => existsSync(socket), Boolean, 10_000)
  desk.configure('codex', { sockets: [socket] })
  const terminal = await desk.open('--remote', `unix://${socket}`)
  await terminal.type('hello')
  await terminal.shows('ok')
  const bridge = await desk.startBridge()
  const prompt = async (text: string) => {
    terminal.key('C-u')
    await terminal.type(text)
  }
  const isClosed = () =>
    until(
      () => terminal.text.includes(screens.approval),
      (is) => !is,
    )
  return {
    ...desk,
    terminal,
    bridge,
    prompt,
    isClosed,
    async [Symbol.asyncDispose]() {
      server.kill('SIGTERM')
      await once(server, 'exit')
      await desk[Symbol.asyncDispose]()
    },
  }
}

describe.skipIf(codex === undefined || !hasTerminal())('Codex in a terminal on a server that listens', () => {
  test('is answered from elsewhere: allowed, refused with a sentence; and by the person at it', async () => {
    await using desk = await openShared()
    const { terminal, prompt, isClosed } = desk
    await prompt('RUN one')
    const one = await desk.asked()
    expect(one).toMatchObject({
      harness: 'codex',
      tool: 'shell',
      input: { bareCommand: expect.stringMatching(/^touch /) },
      reason: 'to make a file',
    })
    await terminal.shows(screens.approval)
    const allowedAt = performance.now()
    expect((await desk.decide(one, { answer: 'once' })).status).toBe(200)
    await desk.made('one')
    console.log(`allowed: the command ran after ${Math.round(performance.now() - allowedAt)} ms`)
    await desk.becomes(one, ({ outcome }) => outcome === 'taken')
    await isClosed()
    expect((await desk.decide(one, { answer: 'deny' })).body).toMatchObject({ code: 'approval-answered' })

    await prompt('RUN two')
    const two = await desk.asked()
    await terminal.shows(screens.approval)
    expect((await desk.decide(two, { answer: 'deny', message: 'Not on a Saturday.' })).status).toBe(200)
    await desk.becomes(two, ({ outcome }) => outcome === 'taken')
    await until(() => desk.model.requests.some(({ text }) => text.includes('Not on a Saturday.')), Boolean)
    await isClosed()
    expect(desk.isMade('two')).toBe(false)

    await prompt('RUN three')
    const three = await desk.asked()
    await terminal.shows(screens.approval)
    terminal.key('y')
    await desk.made('three')
    await desk.becomes(three, ({ state }) => state === 'answered_there')
    expect((await desk.decide(three, { answer: 'deny' })).status).toBe(409)
    await isClosed()

    await prompt('RUN four')
    const four = await desk.asked()
    await terminal.shows(screens.approval)
    terminal.key('Escape')
    await desk.becomes(four, ({ state }) => state === 'answered_there')
    expect((await desk.decide(four, { answer: 'once' })).status).toBe(409)
    expect(desk.isMade('four')).toBe(false)

    // A bridge that is killed while a dialog is open: the next one asks anew.
    await isClosed()
    await prompt('RUN five')
    const five = await desk.asked()
    desk.bridge.kill()
    await desk.bridge.exited
    await desk.startBridge()
    await desk.becomes(five, ({ state }) => state === 'withdrawn')
    const again = await desk.asked()
    expect(again.inputHash).toBe(five.inputHash)
    expect((await desk.decide(again, { answer: 'once' })).status).toBe(200)
    await desk.made('five')
    expect(await desk.list('state=open')).toEqual([])
  })

  test('both at once: one decision each, and who was too late is told', async () => {
    await using desk = await openShared()
    const { terminal, prompt, isClosed } = desk
    const counts: Record<string, number> = {}
    for (let round = 0; round < races; round++) {
      const name = `race${round}`
      await prompt(`RUN ${name}`)
      const asked = await desk.asked()
      await terminal.shows(screens.approval)
      const isYesThere = round % 2 === 0
      const pressing = delay(6 * (round % 16)).then(() => terminal.key(isYesThere ? 'y' : 'Escape'))
      const { status, body } = await desk.decide(asked, { answer: isYesThere ? 'deny' : 'once' })
      await pressing
      await isClosed()
      const ended = await desk.becomes(
        asked,
        ({ state, outcome }) => state === 'answered_there' || outcome !== null || (state === 'answered' && !isYesThere),
        60_000,
      )
      const isAllowed = isYesThere && ended.outcome !== 'taken'
      // A refused command is not run later either.
      if (isAllowed) await desk.made(name)
      else await delay(200)
      const what = `${ended.state} ${ended.outcome} ${desk.isMade(name) ? 'ran' : 'not run'}`
      const kind = `${isYesThere ? 'No here, Yes there' : 'Yes here, No there'}: ${what}`
      counts[kind] = (counts[kind] ?? 0) + 1
      if (status === 409) expect(body.code).toBe('approval-answered')
      expect(ended.state === 'answered', what).toBe(status === 200)
      if (isYesThere) expect(desk.isMade(name), what).toBe(isAllowed)
      // Escape interrupts a command that was allowed here, too, and nothing says whether it has run.
      else if (desk.isMade(name)) expect(what).toMatch(/^answered (taken|null) ran$/)
    }
    console.log(counts)
    expect(await desk.list('state=open')).toEqual([])
  }, 900_000)
})

describe.skipIf(codex === undefined || !hasTerminal())('Codex in a terminal of its own', () => {
  test('its dialog does not wait for a gateway that does not answer, and is reported to one that does', async () => {
    await using desk = await openCodex()
    const terminal = await desk.open()
    await terminal.type('hello')
    await terminal.shows('ok')
    const presence = async () =>
      (await desk.gateway.call('GET', '/v1/sessions')).body.sessions[0]?.presence.state as string
    const dialogAfter = async (name: string) => {
      await terminal.type(`RUN ${name}`)
      const from = await desk.calling(name)
      await terminal.shows(screens.approval)
      return Math.round(performance.now() - from)
    }
    const ms = await dialogAfter('one')
    expect(await until(presence, (state) => state === 'waitingOnApproval')).toBe('waitingOnApproval')
    terminal.key('y')
    await desk.made('one')
    await until(presence, (state) => state === 'idle')
    desk.gateway.signal('SIGSTOP')
    const hangingMs = await dialogAfter('two').finally(() => desk.gateway.signal('SIGCONT'))
    console.log(`the dialog is there after ${ms} ms, and after ${hangingMs} ms with a gateway that does not answer`)
    expect(hangingMs).toBeLessThan(dialogMaxMs)
  })
})
