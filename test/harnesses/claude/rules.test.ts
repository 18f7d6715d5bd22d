import { expect, test } from 'vitest'
import type { AttachedClient } from '../../../src/bridge/local/clients.ts'
import { sessionOf } from '../../../src/harnesses/claude/adapter/registry.ts'
import { chooseRoute, type RouteFacts } from '../../../src/harnesses/claude/adapter/route.ts'
import { readSettings } from '../../../src/harnesses/claude/adapter/settings.ts'
import { trace } from '../../../src/harnesses/claude/adapter/transcript.ts'

const start = { start: '4347449', startedAt: '2026-11-22T10:00:00.000Z' }
const record = {
  pid: 7,
  procStart: '4347449',
  sessionId: 'c1',
  cwd: '/home/u/p',
  version: '2.1.330',
  kind: 'interactive',
  entrypoint: 'cli',
  status: 'idle',
  peerProtocol: 1,
  messagingSocketPath: '/tmp/cc-socks/7.sock',
}
const session = sessionOf(record, 7, start, '/home/u/.claude')!

test.each([
  ['idle', 'idle'],
  ['shell', 'idle'],
  ['busy', 'active'],
  ['waiting', 'waitingOnApproval'],
  ['dreaming', 'unknown'],
  [undefined, 'unknown'],
  ['constructor', 'unknown'],
])('a record that says %s is of a session that is %s', (status, state) => {
  expect(sessionOf({ ...record, status }, 7, start, '/c')).toMatchObject({ state })
})

test.each([
  ['another process had the id', { procStart: '1' }],
  ['it does not say when its process started', { procStart: undefined }],
  ['it is of another process', { pid: 8 }],
  ['nobody watches it', { entrypoint: 'sdk-cli' }],
  ['it runs in the background', { kind: 'bg' }],
  ['its id is no name of a file', { sessionId: '../../x' }],
  ['its directory is relative', { cwd: 'p' }],
  ['its directory has two lines', { cwd: '/p\nq' }],
])('a record is not used where %s', (_why, more) => {
  expect(sessionOf({ ...record, ...more }, 7, start, '/c')).toBeUndefined()
})

test('on macOS a process starts at a date in UTC', () => {
  const macOs = { start: 'Thu Jul 9 04:18:26 2026', startedAt: '2026-07-09T04:18:26.000Z' }
  expect(sessionOf({ ...record, procStart: 'Thu Jul  9 04:18:26 2026' }, 7, macOs, '/c')).toBeDefined()
})

const client = (route: string, more: Partial<AttachedClient> = {}): AttachedClient => ({
  harness: 'claude',
  conversationId: 'c1',
  process: { pid: 7 },
  route,
  send: async () => {},
  hasTaken: async () => undefined,
  ...more,
})
const reported = (permissionMode: string) => ({
  harness: 'claude',
  conversationId: 'c1',
  event: 'Stop',
  at: 0,
  permissionMode,
})

test.each<[string, Partial<RouteFacts>, string]>([
  ['the monitor before the waiting hook', { clients: [client('rewake'), client('monitor')] }, 'monitor'],
  ['a monitor that has the id of before /clear', { clients: [client('monitor', { conversationId: 'c0' })] }, 'monitor'],
  ['no waiting hook of another conversation', { clients: [client('rewake', { conversationId: 'c0' })] }, 'none'],
  ['nothing of another process', { clients: [client('monitor', { process: { pid: 8 } })] }, 'none'],
  ['the inbox where it is allowed', { isInboxAllowed: true, reported: reported('default') }, 'inbox'],
  ['no inbox that is not allowed', { reported: reported('default') }, 'none'],
  ['no inbox of a mode that holds', { isInboxAllowed: true, reported: reported('bypassPermissions') }, 'none'],
  ['no inbox of a mode that is new', { isInboxAllowed: true, reported: reported('yolo') }, 'none'],
  ['no inbox of an unknown mode', { isInboxAllowed: true }, 'none'],
  [
    'no inbox of an unknown version',
    { isInboxAllowed: true, reported: reported('default'), session: { ...session, inboxProtocol: 2 } },
    'none',
  ],
  [
    'the waiting hook before the inbox',
    { isInboxAllowed: true, reported: reported('plan'), clients: [client('rewake')] },
    'rewake',
  ],
])('the route is %s', (_what, facts, kind) => {
  const none = { session, clients: [], reported: undefined, isInboxAllowed: false }
  expect(chooseRoute({ ...none, ...facts })).toMatchObject({ kind })
})

const marked = 'x [Rouse 01ARZ3NDEKTSV4RRFFQ69G5FAV] y'
const lines = {
  queued: { type: 'queue-operation', operation: 'enqueue', content: marked },
  began: { type: 'user', origin: { kind: 'task-notification' }, message: { content: marked } },
  peer: { type: 'user', origin: { kind: 'peer' }, message: { content: marked } },
  joined: { type: 'attachment', attachment: { type: 'queued_command', prompt: marked } },
  quoted: { type: 'assistant', message: { content: marked } },
  result: { type: 'user', message: { content: [{ type: 'tool_result', content: marked }] } },
}
test.each([
  [['queued'], 'queued'],
  [['queued', 'began'], 'began'],
  [['peer'], 'began'],
  [['queued', 'joined'], 'joined'],
  [['quoted', 'result'], undefined],
  [[], undefined],
] as const)('a transcript with %j shows %s', (names, traced) => {
  const text = ['{"cut', ...names.map((name) => JSON.stringify(lines[name])), ''].join('\n')
  expect(trace(text, '01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBe(traced)
  expect(trace(text, '01ARZ3NDEKTSV4RRFFQ69G5FAW')).toBeUndefined()
})

test('settings name directories, and are wrong with the field', () => {
  const env = { HOME: '/home/u' }
  expect(readSettings({ settings: {}, env }).configDirectories).toEqual(['/home/u/.claude'])
  expect(readSettings({ settings: {}, env: { ...env, CLAUDE_CONFIG_DIR: '/c' } }).configDirectories).toEqual(['/c'])
  expect(readSettings({ settings: { configDirs: ['/a', '/b', '/a'] }, env }).configDirectories).toEqual(['/a', '/b'])
  expect(() => readSettings({ settings: { configDirs: ['a'] }, env })).toThrow('configDirs: "a" is no absolute path.')
})
