import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { openApprovalDesk } from './approval-desk.ts'
import { opencodeConfig, opencodeQuiet } from './opencode-config.ts'
import { freePort } from './opencode-desk.ts'
import { program } from './programs.ts'
import { hasTerminal } from './terminal.ts'

const opencode = program('opencode')
const dialog = 'Permission required'
const bootMaxMs = 90_000
const races = Number(process.env.ROUSE_TEST_RACES ?? 50)

async function openOpencode() {
  const desk = await openApprovalDesk({
    run: (command) => ({ tool: 'bash', input: { command, description: 'make a file' } }),
    question: (question) => ({
      tool: 'question',
      input: {
        questions: [
          {
            question,
            header: 'Which',
            options: [
              { label: 'Postgres', description: 'a server' },
              { label: 'SQLite', description: 'a file' },
            ],
          },
        ],
      },
    }),
  })
  const { office, model } = desk
  Object.assign(office.env, opencodeQuiet)
  const ask = '\n  "permission": { "bash": "ask" },'
  office.write('.config/opencode/opencode.jsonc', opencodeConfig(model.url, ask))
  const installed = await office.rouse('install', 'opencode', '--profile', office.profile)
  expect([installed.code, installed.stderr]).toEqual([0, ''])
  desk.configure('opencode')
  const terminal = desk.open(opencode!, '--port', await freePort())
  await terminal.shows('Ask anything', bootMaxMs)
  await terminal.type('hello')
  await terminal.shows('ok', bootMaxMs)
  await desk.startBridge()
  const prompt = async (text: string) => {
    terminal.key('C-u')
    await terminal.type(text)
  }
  const isClosed = () =>
    until(
      () => terminal.text.includes(dialog),
      (is) => !is,
    )
  return { ...desk, terminal, prompt, isClosed }
}

describe.skipIf(opencode === undefined || !hasTerminal())('OpenCode in a terminal with a port', () => {
  test('is answered from elsewhere: allowed, refused with a sentence, a question; and by the person at it', async () => {
    await using desk = await openOpencode()
    const { terminal, prompt, isClosed } = desk
    await prompt('RUN one')
    const one = await desk.asked()
    expect(one).toMatchObject({
      harness: 'opencode',
      tool: 'bash',
      input: { command: expect.stringMatching(/^touch /) },
    })
    await terminal.shows(dialog)
    const allowedAt = performance.now()
    expect((await desk.decide(one, { answer: 'once' })).status).toBe(200)
    await desk.made('one')
    console.log(`allowed: the command ran after ${Math.round(performance.now() - allowedAt)} ms`)
    await desk.becomes(one, ({ outcome }) => outcome === 'taken')
    await isClosed()
    expect((await desk.decide(one, { answer: 'deny' })).body).toMatchObject({ code: 'approval-answered' })

    await prompt('RUN two')
    const two = await desk.asked()
    await terminal.shows(dialog)
    expect((await desk.decide(two, { answer: 'deny', message: 'Not on a Saturday.' })).status).toBe(200)
    await desk.becomes(two, ({ outcome }) => outcome === 'taken')
    await until(
      () => desk.seen.at(-1),
      (text) => text?.includes('Not on a Saturday.') === true,
    )
    await isClosed()
    expect(desk.isMade('two')).toBe(false)

    await prompt('RUN three')
    const three = await desk.asked()
    await terminal.shows(dialog)
    terminal.key('Enter')
    await desk.made('three')
    await desk.becomes(three, ({ state }) => state === 'answered_there')
    expect((await desk.decide(three, { answer: 'deny' })).status).toBe(409)
    await isClosed()

    await prompt('QUESTION stores')
    const four = await desk.asked()
    expect(four).toMatchObject({ kind: 'question', input: { questions: [{ question: 'Which of stores?' }] } })
    expect((await desk.decide(four, { answer: 'answer', answers: { 'Which of stores?': 'SQLite' } })).status).toBe(200)
    await desk.becomes(four, ({ outcome }) => outcome === 'taken')
    await until(
      () => desk.seen.at(-1),
      (text) => text?.includes('SQLite') === true,
    )
    expect(await desk.list('state=open')).toEqual([])
  })

  test('both at once: one decision each, and who was too late is told', async () => {
    await using desk = await openOpencode()
    const { terminal, prompt, isClosed } = desk
    const counts: Record<string, number> = {}
    for (let round = 0; round < races; round++) {
      const name = `race${round}`
      await prompt(`RUN ${name}`)
      const asked = await desk.asked()
      await terminal.shows(dialog)
      const pressing = delay(6 * (round % 16)).then(() => terminal.key('Enter'))
      const { status, body } = await desk.decide(asked, { answer: 'deny', message: 'No.' })
      await pressing
      const ended = await desk.becomes(asked, ({ state, outcome }) => state === 'answered_there' || outcome !== null)
      await isClosed()
      const isAllowed = ended.outcome !== 'taken'
      if (isAllowed) await desk.made(name)
      else await delay(200)
      const what = `${ended.state} ${ended.outcome} ${desk.isMade(name) ? 'ran' : 'not run'}`
      counts[what] = (counts[what] ?? 0) + 1
      if (status === 409) expect(body.code).toBe('approval-answered')
      expect(ended.state === 'answered', what).toBe(status === 200)
      expect(desk.isMade(name), what).toBe(isAllowed)
    }
    console.log(counts)
    expect(await desk.list('state=open')).toEqual([])
  }, 900_000)
})
