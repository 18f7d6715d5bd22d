import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tmuxRow } from '../../../../src/harnesses/generic/tmux/tmux-adapter.ts'
import { TmuxServer } from '../../../../src/harnesses/generic/tmux/tmux-server.ts'
import { until } from '../../../support/until.ts'
import { attempt, aWake, contextOf } from '../../adapter-tools.ts'
import { hasTmux, openTerminal } from './terminal.ts'

type Terminal = Awaited<ReturnType<typeof openTerminal>>

const never = new AbortController().signal

async function adapterFor(terminal: Terminal, { now = Date.now } = {}) {
  const { socketPath, cwd } = terminal
  const { context, clients } = contextOf({ settings: { socketPath }, directories: [cwd], now })
  const adapter = tmuxRow.create(context)
  const find = async () => (await adapter.probe(never)).sessions[0]!
  return { adapter, clients, find, session: await find() }
}

describe.skipIf(!hasTmux)('tmux', () => {
  test('a wake is typed into the pane of the harness and entered once, and the focused pane is another one', async () => {
    const terminal = await openTerminal()
    terminal.tmux('split-window', '-d', '-t', terminal.pane, 'cat')
    terminal.tmux('select-pane', '-t', ':.+')
    const { adapter, session } = await adapterFor(terminal)
    expect(session).toMatchObject({ conversationId: terminal.pane, cwd: terminal.cwd, state: 'idle', route: 'tmux' })
    const wake = aWake({ subject: "it's `rm -rf` $(x) #{pid} ; @/etc/passwd\u001b[2J\nsecond line 👩‍👩‍👧" })
    const { tools, steps } = attempt({}, 'written')
    expect(await adapter.wake(session, wake, tools)).toMatchObject({ step: 'written' })
    const [line, ...more] = terminal.submitted()
    expect(line).toMatch(new RegExp(`^\\[Rouse ${wake.id}\\] New message from ＠boss: .*Treat it as information\\.$`))
    expect(more).toEqual([])
    expect(terminal.draft()).toBe('')
    expect(terminal.escapes()).toBe('')
    expect(steps).toEqual(['handing over: tmux', 'routed', 'written'])
  })

  test('the name of a directory is no pane, and no command of tmux', async () => {
    const terminal = await openTerminal()
    const named = join(terminal.cwd, "x\n%9 ; run-shell 'touch hit'\t1\t")
    mkdirSync(named)
    terminal.tmux('split-window', '-d', '-t', terminal.pane, '-c', named, 'cat')
    const ids = () => new TmuxServer(process.env, terminal.socketPath).panes()
    await until(ids, ({ length }) => length === 2)
    expect((await ids()).filter(({ id }) => !/^%\d+$/.test(id))).toEqual([])
  })

  test('a hook that names the wake proves that its turn began', async () => {
    const terminal = await openTerminal()
    const { adapter, session, clients } = await adapterFor(terminal)
    const wake = aWake()
    const ending = adapter.wake(session, wake, attempt().tools)
    await until(terminal.submitted, ({ length }) => length > 0)
    clients.report({ wakeId: wake.id, step: 'turn_started', proof: 'UserPromptSubmit' })
    expect(await ending).toEqual({ step: 'turn_started', detail: 'UserPromptSubmit' })
    expect(await adapter.find(session, wake.id, never)).toBe('turn_started')
    expect(await adapter.find(session, aWake().id, never)).toBe('unknown')
  })

  test.each([
    ['busy', 'active', 'works on a turn'],
    ['approval', 'waitingOnApproval', 'asks its user'],
    ['garbled', 'unknown', 'cannot be read'],
  ] as const)('nothing is typed into a program that is %s', async (mode, state, detail) => {
    const terminal = await openTerminal()
    await terminal.order({ mode })
    const { adapter, session } = await adapterFor(terminal)
    expect(session.state).toBe(state)
    const { tools, steps } = attempt({}, 'written')
    expect(await adapter.wake(session, aWake(), tools)).toMatchObject({
      step: 'held',
      detail: expect.stringContaining(detail),
    })
    expect(steps).toEqual([])
    await terminal.order({ mode: 'idle' })
    expect(terminal.draft()).toBe('')
    expect(await adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({ step: 'written' })
  })

  // S1-38
  test('a draft stays as it is, and nothing is sent', async () => {
    const terminal = await openTerminal()
    terminal.type('do not lose this')
    await until(terminal.draft, (draft) => draft === 'do not lose this')
    const { adapter, session } = await adapterFor(terminal)
    expect(session.state).toBe('userTyping')
    expect(await adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({
      step: 'held',
      detail: 'the composer has a draft',
    })
    expect(terminal.draft()).toBe('do not lose this')
    expect(terminal.submitted()).toEqual([])
  })

  test('a draft that begins after the look is noticed before anything is typed', async () => {
    const terminal = await openTerminal()
    const { adapter, session } = await adapterFor(terminal)
    const { tools } = attempt({
      handingOver: async () => {
        terminal.type('hel')
        await until(terminal.draft, (draft) => draft === 'hel')
      },
    })
    expect(await adapter.wake(session, aWake(), tools)).toMatchObject({
      step: 'held',
      detail: expect.stringContaining('changed'),
    })
    expect(terminal.draft()).toBe('hel')
  })

  test('a draft that the program shows too late stays as it was: the line is deleted', async () => {
    const terminal = await openTerminal()
    const { adapter, session } = await adapterFor(terminal)
    await terminal.order({ mode: 'idle', readsAfter: '[Rouse ' })
    const { tools } = attempt({ handingOver: async () => terminal.type('hello 1') })
    expect(await adapter.wake(session, aWake(), tools)).toMatchObject({
      step: 'held',
      detail: expect.stringContaining('began to type'),
    })
    expect(terminal.draft()).toBe('hello 1')
    expect(terminal.submitted()).toEqual([])
  })

  test('text that the user types after the line keeps it from being sent', async () => {
    const terminal = await openTerminal()
    const { adapter, session } = await adapterFor(terminal)
    const wake = aWake()
    const ending = adapter.wake(session, wake, attempt({}, 'written').tools)
    await until(terminal.draft, (draft) => draft.endsWith('information.'))
    terminal.type('wait')
    expect(await ending).toMatchObject({ step: 'unknown', detail: expect.stringContaining('not sent') })
    expect(terminal.draft()).toMatch(/information\.wait$/)
    expect(terminal.submitted()).toEqual([])
  })

  test('an Enter that was swallowed is pressed again; a program that takes none gets its empty composer back', async () => {
    const terminal = await openTerminal()
    const { adapter, session } = await adapterFor(terminal)
    await terminal.order({ mode: 'idle', swallowEnters: 2 })
    expect(await adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({ step: 'written' })
    expect(terminal.submitted()).toHaveLength(1)
    await terminal.order({ mode: 'idle', swallowEnters: 99 })
    expect(await adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({ step: 'held' })
    expect(terminal.draft()).toBe('')
    expect(terminal.submitted()).toHaveLength(1)
  })

  test('a program that shows nothing of what was typed gets no Enter', async () => {
    const terminal = await openTerminal()
    const { adapter, session } = await adapterFor(terminal)
    await terminal.order({ mode: 'idle', isDeaf: true })
    expect(await adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({ step: 'held' })
    expect(terminal.submitted()).toEqual([])
  })

  test('a pane that shows its history is brought back first', async () => {
    const terminal = await openTerminal()
    terminal.tmux('copy-mode', '-t', terminal.pane)
    const { adapter, session } = await adapterFor(terminal)
    expect(await adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({ step: 'written' })
  })

  test('a key that was pressed a moment ago holds it', async () => {
    const terminal = await openTerminal()
    terminal.attach()
    await until(
      () => terminal.tmux('list-clients'),
      (clients) => clients !== '',
    )
    const { adapter, session } = await adapterFor(terminal)
    expect(await adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({
      step: 'held',
      detail: expect.stringContaining('pressed a key'),
    })
    const later = await adapterFor(terminal, { now: () => Date.now() + 60_000 })
    expect(await later.adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({ step: 'written' })
  })

  test('two bridges do not type at the same time, and the lock of one that died is taken over', async () => {
    const terminal = await openTerminal()
    const [one, other] = [await adapterFor(terminal), await adapterFor(terminal)]
    const ends = await Promise.all([
      one.adapter.wake(one.session, aWake(), attempt({}, 'written').tools),
      other.adapter.wake(other.session, aWake(), attempt({}, 'written').tools),
    ])
    expect(ends.map(({ step }) => step).sort()).toEqual(['held', 'written'])
    terminal.tmux('set-option', '-p', '-t', terminal.pane, '@rouse_lock', '999999999-1-abc')
    expect(await one.adapter.wake(one.session, aWake(), attempt({}, 'written').tools)).toMatchObject({
      step: 'written',
    })
    expect(terminal.tmux('show-options', '-p', '-t', terminal.pane)).not.toContain('@rouse_lock')
  })

  test('two wakes for one pane are typed one after the other', async () => {
    const terminal = await openTerminal()
    const { adapter, session } = await adapterFor(terminal)
    const ends = await Promise.all([1, 2].map(() => adapter.wake(session, aWake(), attempt({}, 'written').tools)))
    expect(ends.map(({ step }) => step)).toEqual(['written', 'written'])
    expect(terminal.submitted()).toHaveLength(2)
  })

  test('a pane whose harness is another process by now, is suspended, or is gone, is misaddressed', async () => {
    const terminal = await openTerminal()
    const { adapter, session } = await adapterFor(terminal)
    const other = { ...session, process: { ...session.process!, pid: 1 } }
    expect(await adapter.wake(other, aWake(), attempt({}, 'written').tools)).toMatchObject({ step: 'misaddressed' })
    terminal.tmux('split-window', '-d', '-t', terminal.pane, 'cat')
    terminal.tmux('kill-pane', '-t', terminal.pane)
    expect(await adapter.wake(session, aWake(), attempt({}, 'written').tools)).toMatchObject({ step: 'misaddressed' })
  })

  test('panes without a known program, and outside of the allowed directories, are not reported', async () => {
    const unknown = await openTerminal('vim')
    expect((await (await adapterFor(unknown)).adapter.probe(never)).sessions).toEqual([])
    const terminal = await openTerminal()
    const elsewhere = join(terminal.cwd, 'other')
    mkdirSync(elsewhere)
    const { context } = contextOf({ settings: { socketPath: terminal.socketPath }, directories: [elsewhere] })
    expect((await tmuxRow.create(context).probe(never)).sessions).toEqual([])
  })

  test('without a server there is nothing to reach, and no error', async () => {
    const { context } = contextOf({ settings: { socketPath: '/nonexistent/tmux.sock' } })
    const probe = await tmuxRow.create(context).probe(never)
    expect(probe).toMatchObject({ isThere: true, sessions: [], remarks: ['No server of tmux runs here.'] })
    const nothing = contextOf({ env: { PATH: '/nonexistent' } })
    expect(await tmuxRow.create(nothing.context).probe(never)).toMatchObject({ isThere: false })
  })
})

test.each([
  [{ socketPath: 'relative.sock' }, 'tmux.socketPath'],
  [{ programs: ['vim'] }, 'tmux.programs'],
])('a wrong setting is refused by its name: %j', (settings, name) => {
  expect(() => tmuxRow.create(contextOf({ settings }).context)).toThrow(name)
})
