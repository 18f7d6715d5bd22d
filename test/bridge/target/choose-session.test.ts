import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HarnessSession } from '../../../src/bridge/adapter.ts'
import { chooseSession, isWithin, type Target } from '../../../src/bridge/target/choose-session.ts'
import type { KnownSession } from '../../../src/bridge/target/same-conversation.ts'

const startedAt = '2026-11-22T10:00:00.000Z'
const later = '2026-11-22T11:00:00.000Z'

const session = (id: string, fields: Partial<HarnessSession> = {}): HarnessSession => ({
  harness: 'codex',
  conversationId: id,
  cwd: '/home/donna/app',
  state: 'idle',
  route: 'queue',
  ...fields,
})
const known = (fields: Partial<KnownSession> = {}): KnownSession => ({ surface: 'codex', ...fields })
const target = (fields: Partial<Target>): Target => ({
  harnesses: ['codex'],
  directories: ['/home/donna/app'],
  sessions: [],
  ...fields,
})

const chosen = (fields: Partial<Target>): string => {
  const choice = chooseSession(target(fields))
  return choice.kind === 'one' ? `${choice.session.harness} ${choice.session.conversationId}` : choice.kind
}

const process = { pid: 4711, startedAt }
const server = { pid: 99, startedAt }

describe('a wake goes to', () => {
  const cases: [string, Partial<Target>, string][] = [
    ['the only conversation of the directory', { sessions: [session('a')] }, 'codex a'],
    ['one below the directory', { sessions: [session('a', { cwd: '/home/donna/app/lib' })] }, 'codex a'],
    [
      'none of a directory whose name begins the same',
      { sessions: [session('a', { cwd: '/home/donna/apple' })] },
      'none',
    ],
    ['none that does not say where it works', { sessions: [{ ...session('a'), cwd: undefined as never }] }, 'none'],
    ['none of another harness', { sessions: [session('a', { harness: 'claude' })] }, 'none'],
    ['nobody, where there are two', { sessions: [session('a'), session('b')] }, 'misaddressed'],
    [
      'nobody, where there are two harnesses',
      { harnesses: ['codex', 'claude'], sessions: [session('a'), session('b', { harness: 'claude' })] },
      'misaddressed',
    ],
    [
      'the one that runs, not one that is only kept',
      { sessions: [session('a'), session('b', { state: 'unknown', route: undefined as never })] },
      'codex a',
    ],
    [
      'the one that runs, although a wake could open another one',
      { sessions: [session('a', { state: 'unknown', process }), session('b', { state: 'unknown', route: 'resume' })] },
      'codex a',
    ],
    [
      'the only one that a wake can open, where none runs',
      { sessions: [session('a', { state: 'unknown', route: undefined as never }), session('b', { state: 'unknown' })] },
      'codex b',
    ],
    [
      'the one of the process that the gateway knows',
      {
        known: known(process),
        sessions: [session('a', { process }), session('b', { process: { pid: 4712, startedAt } })],
      },
      'codex a',
    ],
    [
      'the same process after /clear, whose conversation has another id',
      { known: known({ ...process, conversationId: 'old' }), sessions: [session('new', { process })] },
      'codex new',
    ],
    [
      'the process, although another one has gone on with its old conversation',
      {
        known: known({ ...process, conversationId: 'old' }),
        sessions: [session('new', { process }), session('old', { process: { pid: 4712, startedAt } })],
      },
      'codex new',
    ],
    [
      'nobody, where the pid is another process now',
      { known: known(process), sessions: [session('a', { process: { pid: 4711, startedAt: later } })] },
      'none',
    ],
    [
      'nobody, where the known process is not there: never the newest',
      { known: known(process), sessions: [session('a', { process: { pid: 4712, startedAt: later } })] },
      'none',
    ],
    [
      'nobody, where only a pid without its start is the same',
      { known: known(process), sessions: [session('a', { process: { pid: 4711 } })] },
      'none',
    ],
    [
      'one whose start nobody knows, by its conversation too',
      { known: known({ pid: 4711, conversationId: 'a' }), sessions: [session('a', { process: { pid: 4711 } })] },
      'codex a',
    ],
    [
      'the conversation that a hook has named, where the harness names no process',
      { known: known({ ...process, conversationId: 'b' }), sessions: [session('a'), session('b')] },
      'codex b',
    ],
    [
      'one of the conversations of a server, by its id',
      {
        known: known({ ...server, conversationId: 'b' }),
        sessions: [session('a', { process: server }), session('b', { process: server })],
      },
      'codex b',
    ],
    [
      'one of the conversations of a server, by its directory',
      {
        known: known({ ...server, cwd: '/home/donna/app/lib' }),
        sessions: [session('a', { process: server }), session('b', { process: server, cwd: '/home/donna/app/lib' })],
      },
      'codex b',
    ],
    [
      'nobody, where a server has two that may be meant',
      { known: known(server), sessions: [session('a', { process: server }), session('b', { process: server })] },
      'misaddressed',
    ],
    [
      'the only one, where the session at the gateway says nothing of itself',
      { known: known(), sessions: [session('a')] },
      'codex a',
    ],
    [
      'the harness, rather than the terminal that it runs in',
      {
        harnesses: ['claude', 'tmux'],
        sessions: [session('%3', { harness: 'tmux', process }), session('a', { harness: 'claude', process })],
      },
      'claude a',
    ],
    [
      'the terminal, where there is no way into the harness',
      {
        harnesses: ['claude', 'tmux'],
        sessions: [
          session('a', { harness: 'claude', process, route: undefined as never }),
          session('%3', { harness: 'tmux', process }),
        ],
      },
      'tmux %3',
    ],
    ['none that speaks for another agent', { sessions: [session('a', { process })], others: [known(process)] }, 'none'],
    [
      'the one that no other agent speaks in',
      { sessions: [session('a', { process }), session('b')], others: [known(process)] },
      'codex b',
    ],
    [
      'a process of its own, where that is the only way',
      {
        harnesses: ['exec'],
        directories: ['/work', '/home/donna/app'],
        known: known(process),
        sessions: [session('1', { harness: 'exec' }), session('2', { harness: 'exec', cwd: '/work' })],
      },
      'exec 2',
    ],
    [
      'a process of its own, where no conversation runs',
      { harnesses: ['codex', 'exec'], sessions: [session('1', { harness: 'exec' })] },
      'exec 1',
    ],
    [
      'the conversation, where one runs',
      { harnesses: ['exec', 'codex'], sessions: [session('1', { harness: 'exec' }), session('a')] },
      'codex a',
    ],
    [
      'no process of its own beside a session that is not found',
      { harnesses: ['codex', 'exec'], known: known(process), sessions: [session('1', { harness: 'exec' })] },
      'none',
    ],
  ]
  test.each(cases)('%s', (_name, fields, expected) => {
    expect(chosen(fields)).toBe(expected)
  })
})

test('all that may be meant are named, with where they are', () => {
  const choice = chooseSession(target({ sessions: [session('a', { process }), session('b')] }))
  expect(choice).toMatchObject({ kind: 'misaddressed', candidates: [{ conversationId: 'a' }, { conversationId: 'b' }] })
  expect(choice.kind === 'misaddressed' && choice.reason).toContain(
    'codex a in /home/donna/app (process 4711), codex b in /home/donna/app',
  )
})

const anySession = fc.record({
  harness: fc.constantFrom('codex' as const, 'claude' as const, 'tmux' as const, 'exec' as const),
  conversationId: fc.constantFrom('a', 'b', 'c'),
  cwd: fc.constantFrom('/home/donna/app', '/home/donna/app/lib', '/elsewhere'),
  state: fc.constantFrom('idle' as const, 'active' as const, 'unknown' as const),
  route: fc.constant('way'),
  process: fc.constantFrom({ pid: 1, startedAt }, { pid: 1, startedAt: later }, { pid: 2, startedAt }, { pid: 2 }),
})
const anyKnown = fc.option(
  fc.record({
    surface: fc.constant('codex'),
    pid: fc.constantFrom(undefined, 1, 2),
    startedAt: fc.constantFrom(undefined, startedAt, later),
    conversationId: fc.constantFrom(undefined, 'a', 'b'),
    cwd: fc.constantFrom(undefined, '/home/donna/app'),
  }),
  { nil: undefined },
)

test('whatever runs, what is chosen was allowed, and does not depend on the order in which it was found', () => {
  const any = fc.tuple(
    fc.array(anySession, { maxLength: 6 }),
    anyKnown,
    fc.subarray(['codex', 'claude', 'tmux', 'exec'] as const, { minLength: 1 }),
  )
  fc.assert(
    fc.property(any, ([sessions, known, harnesses]) => {
      const wanted = target({ sessions, known, harnesses })
      const choice = chooseSession(wanted)
      const reversed = chooseSession({ ...wanted, sessions: sessions.toReversed() })
      expect(reversed.kind).toBe(choice.kind)
      if (choice.kind !== 'one') return
      const { harness, cwd, process } = choice.session
      expect(harnesses).toContain(harness)
      expect(isWithin(cwd!, wanted.directories)).toBe(true)
      // A known process is never mistaken for another one.
      const isOther = known?.pid !== undefined && process !== undefined && process.pid !== known.pid
      expect(isOther && harness !== 'exec').toBe(false)
    }),
  )
})
