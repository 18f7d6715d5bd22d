import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { claudeProgram } from './programs.ts'
import { followed, onceWith, openTaskDesk, quietMs, sent, type TaskDesk } from './task-desk.ts'
import { hasTerminal, type Terminal } from './terminal.ts'

const claude = claudeProgram()
const exitDialog = 'Background work is running'
const notification = 'task-notification'
/** The instants between the reading of the answer that has the end, and the first answer of the model in its turn. */
const instants = ['another turn is under way', 'the model is not yet asked', 'the model has not answered'] as const
type Instant = (typeof instants)[number]

/** Settings in which the program is killed when a turn has its prompt, and before the model is asked. */
const killing = {
  UserPromptSubmit: [{ hooks: [{ type: 'command', command: `grep -q ${notification} && kill -9 $PPID; true` }] }],
}

/** Writes the settings of Claude Code. */
function configure(desk: TaskDesk, hooks: object): void {
  desk.office.write('claude/settings.json', JSON.stringify({ permissions: { allow: ['mcp__rouse'] }, hooks }))
}

/** Has an end come, and kills the program when it has read it. */
async function killedAt(instant: Instant, desk: TaskDesk, terminal: Terminal, end: () => Promise<unknown>) {
  if (instant === 'another turn is under way') {
    await terminal.type('HOLD')
    await until(() => desk.holding.length, Boolean)
  }
  if (instant === 'the model has not answered') desk.hold(notification)
  await end()
  await until(desk.account, ({ length }) => length > 0)
  if (instant === 'the model has not answered') await until(() => desk.holding.length, Boolean)
  await until(() => hasRead(desk), Boolean)
  if (instant !== 'the model is not yet asked') process.kill(terminal.pid, 'SIGKILL')
  await isGone(terminal)
  configure(desk, {})
  desk.release()
}

/** True when the program has written down an end of which its model does not know. */
const hasRead = ({ office }: TaskDesk): boolean =>
  readdirSync(office.at('claude/projects'), { recursive: true }).some((name) => `${name}`.endsWith('.outcome.json'))

/** The process of `rouse mcp` that the program has started. */
function serverOf({ pid }: Terminal): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  )
  return Number(children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('--profile')))
}

/** Has an end come, and kills the program before it has read the answer. */
async function killedBefore(desk: TaskDesk, terminal: Terminal, end: () => Promise<unknown>): Promise<void> {
  const { length } = await desk.account()
  // tmux lets the program itself go on.
  const server = serverOf(terminal)
  process.kill(server, 'SIGSTOP')
  await end()
  await until(desk.account, (turns) => turns.length > length)
  process.kill(terminal.pid, 'SIGKILL')
  process.kill(server, 'SIGKILL')
  await isGone(terminal)
}

const isGone = ({ pid }: Terminal) =>
  until(
    () => existsSync(`/proc/${pid}`),
    (is) => !is,
  )

/** Expects that the account has one turn, of which nobody says that it began. */
async function expectNoProof(desk: TaskDesk): Promise<void> {
  const unknown = { route: 'mcp-tasks', outcome: 'unknown', endedAt: null }
  expect(await desk.account()).toMatchObject([unknown])
}

/** Resumes the conversation, and expects that no turn begins by itself. */
async function resumedQuietly(desk: TaskDesk): Promise<Terminal> {
  const before = desk.turns.length
  const terminal = await desk.open('--continue')
  await new Promise((resolve) => setTimeout(resolve, quietMs))
  expect(desk.turns.slice(before)).toEqual([])
  return terminal
}

/** Types a prompt. Resolves when the model has read a text in the turn. */
async function reads(desk: TaskDesk, terminal: Terminal, prompt: string, text: RegExp): Promise<void> {
  const before = desk.requests.length
  await terminal.type(prompt)
  await until(() => desk.requests.slice(before).some((request) => text.test(request.text)), Boolean)
}

/** Exits, and answers the question that comes where something is followed. */
async function exit(terminal: Terminal): Promise<void> {
  await terminal.type('/exit')
  await terminal.shows(exitDialog)
  terminal.key('Enter')
  await isGone(terminal)
}

/** The id of the only conversation. */
function conversation({ office }: TaskDesk): string {
  const [folder] = readdirSync(office.at('claude/projects'))
  const names = readdirSync(office.at('claude/projects', folder!)).filter((name) => name.endsWith('.jsonl'))
  expect(names).toHaveLength(1)
  return names[0]!.replace('.jsonl', '')
}

describe.skipIf(claude === undefined || !hasTerminal())('Claude Code that follows a task', () => {
  test.each(instants)(
    'is killed when it has the end, while %s: the task is found, and no turn is claimed',
    async (at) => {
      await using desk = await openTaskDesk(claude!)
      configure(desk, at === 'the model is not yet asked' ? killing : {})
      const terminal = await desk.open()
      const id = await sent(desk, terminal, 'alpha')
      await killedAt(at, desk, terminal, () => desk.complete(id, 'alpha is done'))
      await expectNoProof(desk)
      expect(await desk.followers()).toEqual([])

      const resumed = await resumedQuietly(desk)
      await reads(desk, resumed, 'Good morning', /alpha is done/)
      await resumed[Symbol.asyncDispose]()
      const other = await desk.open()
      await reads(desk, other, 'LIST', new RegExp(`${id}.*completed.*alpha is done`))
      await expectNoProof(desk)
    },
  )

  test.each(instants)(
    'is killed when mail has ended its wait, while %s: the mail is unread until it is read',
    async (at) => {
      await using desk = await openTaskDesk(claude!)
      const { gateway, office } = desk
      configure(desk, at === 'the model is not yet asked' ? killing : {})
      const terminal = await desk.open()
      await terminal.type('WAIT')
      await followed(desk, terminal, null)
      let id = ''
      await killedAt(at, desk, terminal, async () => {
        id = await desk.send('Mail for the wait')
      })
      await expectNoProof(desk)
      const inbox = await gateway.call('GET', '/v1/inbox?unread=true', undefined, { key: office.agent.key })
      expect(inbox.body.messages).toMatchObject([{ messageId: id }])
      const { body } = await gateway.call('GET', '/v1/recovery?agent=@donna')
      expect(body.recovery[0].waiting).toMatchObject({ unread: 1 })

      const resumed = await resumedQuietly(desk)
      await resumed.type('READ')
      await desk.acked(id)
      await expectNoProof(desk)
    },
  )

  test('is killed before it has read an end: the resumed session begins the turn, once', async () => {
    await using desk = await openTaskDesk(claude!)
    const terminal = await desk.open()
    await terminal.type('WAIT')
    await followed(desk, terminal, null)
    let message = ''
    await killedBefore(desk, terminal, async () => {
      message = await desk.send('Mail for the wait')
    })
    const second = await desk.open('--continue')
    await desk.acked(message)
    await onceWith(desk, 'Mail has come')
    await followed(desk, second, null)

    const id = await sent(desk, second, 'alpha')
    await killedBefore(desk, second, () => desk.complete(id, 'alpha is done'))
    await desk.open('--continue')
    await onceWith(desk, 'alpha is done')
    expect(await desk.account()).toHaveLength(2)
  })

  test('exits and is resumed: an end begins one turn, whether it came meanwhile or comes later', async () => {
    await using desk = await openTaskDesk(claude!)
    const terminal = await desk.open()
    const first = await sent(desk, terminal, 'alpha')
    await exit(terminal)
    expect(await desk.followers()).toMatchObject([{ taskId: first, isPolled: false }])
    await desk.complete(first, 'alpha is done')
    const second = await desk.open('--resume', conversation(desk))
    await onceWith(desk, 'alpha is done')

    const later = await sent(desk, second, 'beta')
    await exit(second)
    const third = await desk.open('--resume', conversation(desk))
    await followed(desk, third, later)
    await desk.complete(later, 'beta is done')
    await onceWith(desk, 'beta is done')
    expect(await desk.turnWith('alpha is done')).toHaveLength(1)
    expect(await desk.account()).toHaveLength(2)
  })

  test.each(['--keep', '--minted'])(
    'gets another key while it runs, and the old one is removed with %s: the end begins one turn',
    async (option) => {
      await using desk = await openTaskDesk(claude!)
      const { gateway, office } = desk
      const { body: old } = await gateway.call('GET', '/v1/whoami', undefined, { key: office.agent.key })
      const terminal = await desk.open()
      const id = await sent(desk, terminal, 'alpha')
      const key = async (file: string, ...argv: string[]) => {
        const access = ['--url', gateway.url, '--key-file', file]
        const ended = await office.rouse('agent', 'key', ...argv, ...access)
        expect([ended.code, ended.stderr]).toEqual([0, ''])
      }
      const file = office.at('new.key')
      await key(join(gateway.dataDir, 'admin.key'), 'add', '@donna', '--save-key', file)
      const profiles = desk.profile()
      profiles.profiles[office.profile].key = readFileSync(file, 'utf8').trim()
      writeFileSync(office.at('.config/rouse/profiles.json'), JSON.stringify(profiles), { mode: 0o600 })
      await key(file, 'rm', '@donna', old.keyId, option)
      const refused = await gateway.call('GET', '/v1/whoami', undefined, { key: office.agent.key })
      expect(refused.status).toBe(401)

      await desk.complete(id, 'alpha is done')
      await onceWith(desk, 'alpha is done')
    },
  )
})
