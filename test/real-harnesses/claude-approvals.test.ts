import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { openApprovalDesk } from './approval-desk.ts'
import { prepareClaude } from './claude-config.ts'
import { claudeProgram } from './programs.ts'
import { hasTerminal } from './terminal.ts'

const claude = claudeProgram()
const canRun = claude !== undefined && hasTerminal()
const dialog = 'Do you want to proceed?'
const races = Number(process.env.ROUSE_TEST_RACES ?? 50)

async function openClaude() {
  const desk = await openApprovalDesk({
    run: (command) => ({ tool: 'Bash', input: { command, description: 'make a file' } }),
    question: (question) => ({
      tool: 'AskUserQuestion',
      input: {
        questions: [
          {
            question,
            header: 'Which',
            multiSelect: false,
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
  prepareClaude(office, claude!, model.url)
  const install = await office.rouse('install', 'claude', '--profile', office.profile, '--approvals')
  expect([install.code, install.stderr]).toEqual([0, ''])
  const terminal = desk.open(claude!, '--permission-mode', 'default')
  await terminal.shows('? for shortcuts', 60_000)
  /** A prompt on an empty line. */
  const prompt = async (text: string) => {
    terminal.key('C-u')
    await terminal.type(text)
  }
  const presence = async () =>
    (await desk.gateway.call('GET', '/v1/sessions')).body.sessions[0]?.presence.state as string
  return { ...desk, terminal, prompt, rests: () => until(presence, (state) => state === 'idle', 30_000, 200), presence }
}

describe.skipIf(!canRun)('Claude Code in a terminal', () => {
  test('is answered from elsewhere: allowed, refused with a sentence, a question; and by the person at it', async () => {
    await using desk = await openClaude()
    const { terminal, prompt, rests } = desk
    await prompt('RUN one')
    const one = await desk.asked()
    expect(one).toMatchObject({
      tool: 'Bash',
      kind: 'permission',
      input: { command: expect.stringContaining('touch ') },
    })
    await terminal.shows(dialog)
    const allowedAt = performance.now()
    expect((await desk.decide(one, { answer: 'once' })).status).toBe(200)
    await desk.made('one')
    console.log(`allowed: the command ran after ${Math.round(performance.now() - allowedAt)} ms`)
    await desk.becomes(one, ({ outcome }) => outcome === 'taken')
    await rests()
    expect((await desk.decide(one, { answer: 'deny' })).body).toMatchObject({ code: 'approval-answered' })

    await prompt('RUN two')
    const two = await desk.asked()
    await terminal.shows(dialog)
    expect((await desk.decide(two, { answer: 'deny', message: 'Not on a Saturday.' })).status).toBe(200)
    await until(
      () => desk.seen.at(-1),
      (text) => text?.includes('Not on a Saturday.') === true,
    )
    await desk.becomes(two, ({ outcome }) => outcome === 'taken')
    await rests()
    expect(desk.isMade('two')).toBe(false)

    await prompt('RUN three')
    const three = await desk.asked()
    await terminal.shows(dialog)
    terminal.key('Enter')
    await desk.made('three')
    await desk.becomes(three, ({ state }) => state === 'answered_there')
    expect((await desk.decide(three, { answer: 'deny' })).status).toBe(409)
    await rests()

    await prompt('RUN four')
    const four = await desk.asked()
    await terminal.shows(dialog)
    terminal.key('Escape')
    await desk.becomes(four, ({ state }) => state === 'withdrawn' || state === 'answered_there')
    expect((await desk.decide(four, { answer: 'once' })).status).toBe(409)
    expect(desk.isMade('four')).toBe(false)

    await prompt('QUESTION stores')
    const five = await desk.asked()
    expect(five).toMatchObject({ kind: 'question', input: { questions: [{ question: 'Which of stores?' }] } })
    await terminal.shows('Which of stores?')
    expect((await desk.decide(five, { answer: 'answer', answers: { 'Which of stores?': 'SQLite' } })).status).toBe(200)
    await until(
      () => desk.seen.at(-1),
      (text) => text?.includes('SQLite') === true,
    )
    await desk.becomes(five, ({ outcome }) => outcome === 'taken')
    await rests()
    expect(await desk.list('state=open')).toEqual([])
  })

  test('both at once: one decision each, and who was too late is told', async () => {
    await using desk = await openClaude()
    const { terminal, prompt, rests } = desk
    // After Escape there is no end of a turn, which a hook would report.
    const isQuiet = () => !terminal.text.includes(dialog) && !terminal.text.includes('esc to interrupt')
    const counts: Record<string, number> = {}
    for (let round = 0; round < races; round++) {
      const name = `race${round}`
      await prompt(`RUN ${name}`)
      const asked = await desk.asked()
      await terminal.shows(dialog)
      // Two opposite answers.
      const isYesThere = round % 2 === 0
      const here = isYesThere ? { answer: 'deny', message: 'No.' } : { answer: 'once' }
      const pressing = delay(8 * (round % 16)).then(() => terminal.key(isYesThere ? 'Enter' : 'Escape'))
      const { status, body } = await desk.decide(asked, here)
      await pressing
      if (isYesThere) await rests()
      else for (let looks = 0; looks < 10; looks = isQuiet() ? looks + 1 : 0) await delay(100)
      // Escape ends the turn, and with it the hook that would say what became of a command that was allowed.
      const isKnown = ({ state, outcome }: { state: string; outcome: string | null }) =>
        state !== 'open' && (state !== 'answered' || outcome !== null || !isYesThere)
      const ended = await desk.becomes(asked, isKnown)
      const isMade = desk.isMade(name)
      const what = `${ended.state} ${ended.outcome} ${isMade ? 'ran' : 'not run'}`
      const kind = `${isYesThere ? 'No here, Yes there' : 'Yes here, No there'}: ${what}`
      counts[kind] = (counts[kind] ?? 0) + 1
      if (status === 409) expect(body.code).toBe('approval-answered')
      expect(ended.state === 'answered', what).toBe(status === 200)
      // The record says what was done: ours, or that ours was too late.
      if (isYesThere) expect(isMade, what).toBe(ended.state !== 'answered' || ended.outcome === 'late')
      else if (isMade) expect(what).toMatch(/^answered (taken|null) ran$/)
    }
    console.log(counts)
    expect(await desk.list('state=open')).toEqual([])
  }, 900_000)
})
