import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Journal } from '../../../src/bridge/journal/journal.ts'
import { journalPath } from '../../../src/bridge/journal/journal-path.ts'
import { dataDirectory } from '../../support/data-directory.ts'

const agent = '@donna http://gateway'
const session = { harness: 'codex', conversationId: 'thread', cwd: '/app', state: 'idle' } as const
const named = (id: string, sender: string | null = '@olga') => ({ id, agent, subscriptionId: 'WAKE_SUB:1', sender })

function open(directory: string, now: () => number = Date.now): Journal {
  return Journal.open({ path: join(directory, 'state', 'bridge.db'), now, note: () => {} })
}

describe('the journal', () => {
  test('keeps what was handed over across a restart, and only its user can read it', () => {
    using directory = dataDirectory()
    {
      using journal = open(directory.path)
      expect(journal.accept(named('1'))).toMatchObject({ step: 'accepted', handedOverAt: null, endedAt: null })
      journal.handOver('1', session, 'queue')
    }
    using journal = open(directory.path)
    expect(journal.accept(named('1'))).toMatchObject({
      harness: 'codex',
      conversationId: 'thread',
      route: 'queue',
      endedAt: null,
    })
    expect(journal.find('1', agent)?.handedOverAt).toBeTypeOf('number')
    expect(statSync(join(directory.path, 'state', 'bridge.db')).mode & 0o777).toBe(0o600)
    expect(statSync(join(directory.path, 'state')).mode & 0o777).toBe(0o700)
  })

  test('answers how a wake ended, and opens one again that failed with nothing handed over', () => {
    using directory = dataDirectory()
    using journal = open(directory.path)
    for (const id of ['1', '2', '3']) {
      journal.accept(named(id))
      journal.handOver(id, session, 'queue')
    }
    journal.end('1', 'turn_started', 'turn/started')
    journal.takeBack('2', 'the harness does not have it')
    journal.end('2', 'failed', 'refused')
    journal.end('3', 'failed', 'whether it has acted is not known')
    journal.note('1', 'held', 'too late to say')
    expect(journal.accept(named('1'))).toMatchObject({ step: 'turn_started', detail: 'turn/started' })
    expect(journal.accept(named('2'))).toMatchObject({ step: 'accepted', handedOverAt: null, endedAt: null })
    expect(journal.accept(named('3'))).toMatchObject({ step: 'failed', endedAt: expect.any(Number) })
  })

  test('counts the turns of an agent, with those whom they are about, and of all; what was taken back is none', () => {
    using directory = dataDirectory()
    let now = 1_000
    using journal = open(directory.path, () => now)
    for (const [id, sender] of [
      ['1', '@olga'],
      ['2', '@ben'],
      ['3', '@olga'],
    ] as const) {
      now += 1_000
      journal.accept(named(id, sender))
      journal.handOver(id, session, 'queue', [sender, '@carl'])
    }
    expect(journal.nthLastTurn(3)).toBe(2_000)
    expect(journal.nthLastTurn(4)).toBeUndefined()
    expect(journal.turnsOf(agent, 2_000, 10)).toEqual([
      { at: 4_000, senders: ['@olga', '@carl'] },
      { at: 3_000, senders: ['@ben', '@carl'] },
    ])
    expect(journal.turnsOf(agent, 0, 1)).toHaveLength(1)
    expect(journal.turnsOf('@ben', 0, 10)).toEqual([])
    expect(journal.turnsSince(agent, 2_000)).toBe(2)
    journal.takeBack('3', 'the user types')
    expect(journal.turnsSince(undefined, 0)).toBe(2)
    // A clock that was set back finds turns in its future.
    now = 2_500
    expect(journal.nthLastTurn(1)).toBe(2_000)
  })

  test('counts each run for a wake as a turn of its own, also one after which nothing is handed over any more', () => {
    using directory = dataDirectory()
    let now = 1_000
    using journal = open(directory.path, () => now)
    journal.accept(named('1'))
    for (const isTurn of [true, false, true]) {
      now += 1_000
      journal.handOver('1', session, 'queue', ['@olga'])
      journal.takeBack('1', 'held', isTurn)
    }
    expect(journal.turnsOf(agent, 0, 10).map(({ at }) => at)).toEqual([4_000, 2_000])
    expect(journal.find('1', agent)?.handedOverAt).toBeNull()
  })

  test('forgets what is older than 30 days', () => {
    using directory = dataDirectory()
    let now = Date.now()
    using journal = open(directory.path, () => now)
    journal.accept(named('1'))
    now += 31 * 24 * 3_600_000
    journal.accept(named('2'))
    journal.prune()
    expect(journal.newest(agent, 10).map(({ id }) => id)).toEqual(['2'])
  })

  test('remembers the subscriptions of each agent', () => {
    using directory = dataDirectory()
    using journal = open(directory.path)
    journal.saveSubscription(agent, 'SENT_TO_ME', 'WAKE_SUB:1')
    journal.saveSubscription(agent, 'SENT_TO_ME', 'WAKE_SUB:2')
    expect([...journal.subscriptionsOf(agent)]).toEqual([['SENT_TO_ME', 'WAKE_SUB:2']])
    expect(journal.subscriptionsOf('@ben').size).toBe(0)
  })

  test('belongs to one bridge: a second one learns which', () => {
    using directory = dataDirectory()
    {
      using _first = open(directory.path)
      expect(() => open(directory.path)).toThrow(
        `Another bridge of this user runs (process ${process.pid}). Stop it first.`,
      )
    }
    using again = open(directory.path)
    expect(again.newest(agent, 1)).toEqual([])
  })

  test('can be read while a bridge holds it; where there is none, there is nothing to read', () => {
    using directory = dataDirectory()
    const path = join(directory.path, 'state', 'bridge.db')
    expect(Journal.read({ path, now: Date.now })).toBeUndefined()
    using journal = open(directory.path)
    journal.accept(named('1'))
    using read = Journal.read({ path, now: Date.now })
    expect(read?.newest(agent, 1)).toMatchObject([{ id: '1' }])
  })

  test('that is damaged, or of a newer version, is refused with what to do', () => {
    using directory = dataDirectory()
    const path = join(directory.path, 'bridge.db')
    writeFileSync(path, 'this is no database, and never was one\n'.repeat(100))
    const openIt = () => Journal.open({ path, now: Date.now, note: () => {} })
    expect(openIt).toThrow(/bridge\.db, is damaged\. Move it away/)
    // A refusal leaves no lock behind.
    expect(openIt).toThrow(/is damaged/)
  })
})

test('a place that cannot have a journal is refused with what to do', () => {
  using directory = dataDirectory()
  writeFileSync(join(directory.path, 'state'), '')
  expect(() => open(directory.path)).toThrow(/cannot be written \(E(EXIST|NOTDIR)\)/)
})

test('its place follows the XDG Base Directory Specification', () => {
  expect(journalPath({ HOME: '/home/donna' })).toBe('/home/donna/.local/state/rouse/bridge.db')
  expect(journalPath({ HOME: '/home/donna', XDG_STATE_HOME: '/state' })).toBe('/state/rouse/bridge.db')
  expect(journalPath({ HOME: '/home/donna', XDG_STATE_HOME: 'state' })).toBe('/home/donna/.local/state/rouse/bridge.db')
  expect(() => journalPath({})).toThrow('set HOME or XDG_STATE_HOME')
})
