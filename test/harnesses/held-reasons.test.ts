import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AdapterId, AdapterRow, HarnessSession, WakeEnd } from '../../src/bridge/adapter.ts'
import { type AttachedClient, WakeDeclined } from '../../src/bridge/local/clients.ts'
import { processStart } from '../../src/bridge/processes.ts'
import { adapters } from '../../src/harnesses/adapters.ts'
import { claudeRow } from '../../src/harnesses/claude/adapter/claude-adapter.ts'
import {
  closed,
  closedOrBusy,
  neverPrompted,
  notAlone,
  takenBack,
  unreachable,
  whyNot,
} from '../../src/harnesses/codex/adapter/wake/verdict.ts'
import { copilotRow } from '../../src/harnesses/copilot/adapter/copilot-adapter.ts'
import { acpRow } from '../../src/harnesses/generic/acp/acp-adapter.ts'
import { execRow } from '../../src/harnesses/generic/exec/exec-adapter.ts'
import { verdictOf } from '../../src/harnesses/generic/osascript/verdict.ts'
import { programOf } from '../../src/harnesses/generic/tmux/programs.ts'
import { notReady } from '../../src/harnesses/generic/tmux/typing.ts'
import { opencodeRow } from '../../src/harnesses/opencode/adapter/opencode-adapter.ts'
import { heldBy } from '../../src/harnesses/opencode/adapter/v1/activity.ts'
import { passedOver } from '../../src/harnesses/opencode/adapter/v1/turn.ts'
import { followMessage } from '../../src/harnesses/qwen/adapter/message.ts'
import type { PresenceState } from '../../src/words/presence.ts'
import type { Reason } from '../../src/words/sender-view.ts'
import { attempt, aWake, contextOf } from './adapter-tools.ts'
import { emptyScreen, lookOf } from './generic/osascript/mac.ts'

type Held = WakeEnd | Promise<WakeEnd>
type Case = readonly [AdapterId, string, () => Held, Reason]

const own = { pid: process.pid }

/** A conversation whose program of ours has called, in a state; `declines`: what it says to a wake. */
async function ofClient(row: AdapterRow, state: PresenceState | undefined, declines?: string): Promise<WakeEnd> {
  const { context, clients } = contextOf()
  const send = async () => {
    throw new WakeDeclined(declines)
  }
  const place = { conversationId: 'c', process: own, route: 'x' }
  const client: AttachedClient = { harness: row.id, ...place, send, hasTaken: async () => undefined }
  clients.clients.push(state === undefined ? client : { ...client, state })
  const session: HarnessSession = { harness: row.id, conversationId: 'c', process: own, state: 'idle', route: 'plugin' }
  return row.create(context).wake(session, aWake(), attempt().tools)
}

/** A session of Claude Code whose record says this. */
function ofClaude(record: object): Promise<WakeEnd> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'rouse-held-')))
  mkdirSync(join(directory, 'sessions'))
  const { start } = processStart(process.pid)!
  const whole = {
    ...own,
    procStart: start,
    sessionId: 'c',
    cwd: '/',
    kind: 'interactive',
    entrypoint: 'cli',
    ...record,
  }
  writeFileSync(join(directory, 'sessions', `${process.pid}.json`), JSON.stringify(whole))
  const { context } = contextOf({ settings: { configDirs: [directory] } })
  const session: HarnessSession = { harness: 'claude', conversationId: 'c', process: own, state: 'idle' }
  return claudeRow.create(context).wake(session, aWake(), attempt().tools)
}

/** A message to Qwen Code that its user looks at first. */
function ofQwen(): Promise<WakeEnd> {
  const { tools, stop } = attempt()
  const inbox = {
    follow: (_id: string, note: (receipt: object) => void) => {
      note({ status: 'held', reason: 'its user looks at it' })
      stop()
      return () => {}
    },
  }
  return followMessage('01', { inbox: inbox as never, clients: contextOf().clients, tools })
}

async function ofExec(): Promise<WakeEnd> {
  const { tools, stop } = attempt()
  stop()
  const session: HarnessSession = { harness: 'exec', conversationId: 'c', cwd: '/', state: 'idle' }
  return execRow.create(contextOf({ settings: { command: 'true' } }).context).wake(session, aWake(), tools)
}

function ofWindow(seen: object): WakeEnd {
  const verdict = verdictOf(JSON.stringify(seen), {
    application: 'Terminal',
    tty: '/dev/ttys003',
    program: programOf('claude'),
  })
  if (verdict.kind !== 'held') throw new Error('it is ready')
  return { step: 'held', detail: verdict.why, reason: verdict.reason }
}

const cases: readonly Case[] = [
  ['codex', 'it asks its user', () => whyNot({ state: 'waitingOnApproval' }, false)!, 'waiting_on_approval'],
  ['codex', 'it is closed', () => closed, 'cannot_start_turn'],
  ['codex', 'it may be closed', () => closedOrBusy, 'presence_unknown'],
  ['codex', 'its queue has other texts', () => notAlone, 'cannot_start_turn'],
  ['codex', 'it was taken back', () => takenBack, 'cannot_start_turn'],
  ['codex', 'it had no prompt', () => neverPrompted, 'cannot_start_turn'],
  ['codex', 'nobody answers', () => unreachable('gone'), 'presence_unknown'],
  ['opencode', 'a turn runs', () => heldBy('active')!, 'turn_active'],
  ['opencode', 'it asks its user', () => ofClient(opencodeRow, 'waitingOnApproval'), 'waiting_on_approval'],
  ['opencode', 'its plugin says nothing', () => ofClient(opencodeRow, undefined), 'presence_unknown'],
  ['opencode', 'its plugin declines', () => ofClient(opencodeRow, 'idle', 'no conversation'), 'cannot_start_turn'],
  ['opencode', 'the turn before was stopped', () => passedOver, 'cannot_start_turn'],
  ['claude', 'a turn runs', () => ofClaude({ status: 'busy' }), 'turn_active'],
  ['claude', 'it asks its user', () => ofClaude({ status: 'waiting' }), 'waiting_on_approval'],
  ['claude', 'it does not say', () => ofClaude({ status: 'dreaming' }), 'presence_unknown'],
  ['claude', 'nothing of ours listens', () => ofClaude({ status: 'idle' }), 'cannot_start_turn'],
  ['claude', 'another conversation', () => ofClaude({ sessionId: 'd' }), 'no_session'],
  ['qwen', 'its user looks first', ofQwen, 'waiting_on_approval'],
  ['copilot', 'a turn runs', () => ofClient(copilotRow, 'active'), 'turn_active'],
  ['copilot', 'its user types', () => ofClient(copilotRow, 'userTyping'), 'user_typing'],
  ['copilot', 'it does not say', () => ofClient(copilotRow, undefined), 'presence_unknown'],
  ['copilot', 'it declines', () => ofClient(copilotRow, 'idle', 'no'), 'cannot_start_turn'],
  ['acp', 'a turn runs', () => ofClient(acpRow, 'active'), 'turn_active'],
  ['acp', 'it asks its user', () => ofClient(acpRow, 'waitingOnApproval'), 'waiting_on_approval'],
  ['acp', 'it declines', () => ofClient(acpRow, 'idle', 'no'), 'cannot_start_turn'],
  ['tmux', 'a draft', () => notReady.draft, 'user_typing'],
  ['tmux', 'a turn runs', () => notReady.busy, 'turn_active'],
  ['tmux', 'it asks its user', () => notReady.approval, 'waiting_on_approval'],
  ['tmux', 'it cannot be read', () => notReady.unreadable, 'presence_unknown'],
  ['osascript', 'a draft', () => ofWindow(lookOf({ value: emptyScreen.replace('❯', '❯ fix it') })), 'user_typing'],
  ['osascript', 'a turn runs', () => ofWindow(lookOf({ value: `${emptyScreen}\n  esc to interrupt` })), 'turn_active'],
  [
    'osascript',
    'it asks',
    () => ofWindow(lookOf({ value: 'Do you want to proceed?\n❯ 1. Yes' })),
    'waiting_on_approval',
  ],
  ['osascript', 'it cannot be read', () => ofWindow(lookOf({ value: 'donna@mac ~ %' })), 'presence_unknown'],
  ['osascript', 'another window', () => ofWindow({ isFront: false }), 'cannot_start_turn'],
  ['exec', 'the bridge stops', ofExec, 'cannot_start_turn'],
]

test.each(cases)('%s: a sender may know why its wake is held: %s', async (_id, _what, hold, reason) => {
  expect(await hold()).toMatchObject({ step: 'held', reason })
})

test('every adapter is in the table', () => {
  expect(new Set(cases.map(([id]) => id))).toEqual(new Set(Object.keys(adapters)))
})
