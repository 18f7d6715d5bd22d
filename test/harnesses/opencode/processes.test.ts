import { expect, test } from 'vitest'
import { openedBy } from '../../../src/harnesses/opencode/adapter/processes/arguments.ts'
import { listenersOfLsof } from '../../../src/harnesses/opencode/adapter/processes/listeners.ts'
import { listeningSockets } from '../../../src/harnesses/opencode/adapter/processes/proc-net.ts'
import { shownSessions } from '../../../src/harnesses/opencode/adapter/v1/conversations.ts'

const procNetTcp = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1000 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0 0 10 0
   1: 00000000:1001 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12 1 0 100 0 0 10 0
   2: 0101A8C0:1002 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 13 1 0 100 0 0 10 0
   3: 0100007F:1003 0100007F:1000 01 00000000:00000000 00:00000000 00000000  1000        0 14 1 0 100 0 0 10 0
`

test('of the sockets of the kernel those count that listen, on loopback or everywhere', () => {
  expect(listeningSockets(procNetTcp)).toEqual([
    { inode: '11', uid: 1000, host: '127.0.0.1', port: 4096 },
    { inode: '12', uid: 1000, host: '127.0.0.1', port: 4097 },
  ])
  const six = '   0: 00000000000000000000000001000000:1000 0:0 0A 0:0 0:0 0  1000  0 15 1'
  expect(listeningSockets(six)).toEqual([{ inode: '15', uid: 1000, host: '[::1]', port: 4096 }])
  expect(listeningSockets('')).toEqual([])
})

test('of the sockets of lsof those count that are of OpenCode, or have the port that is named', () => {
  const text =
    'p10\ncopencode\nf20\nn127.0.0.1:4096\nf21\nn192.168.1.1:4098\np11\ncnode\nf3\nn*:5000\nf4\nn[::1]:5001\n'
  expect(listenersOfLsof(text, {})).toEqual([{ pid: 10, port: 4096, host: '127.0.0.1' }])
  expect(listenersOfLsof(text, { port: 5001 })).toEqual([
    { pid: 10, port: 4096, host: '127.0.0.1' },
    { pid: 11, port: 5001, host: '[::1]' },
  ])
  expect(listenersOfLsof('', {})).toEqual([])
})

test.each([
  [['opencode'], {}],
  [['opencode', '--session', 'ses_1'], { sessionId: 'ses_1' }],
  [['opencode', '-s', 'ses_1', '--port', '1'], { sessionId: 'ses_1' }],
  [['opencode', '--session=ses_1'], { sessionId: 'ses_1' }],
  [['opencode', '-c'], { continues: true }],
  [['opencode', 'a', '--continue'], { continues: true }],
  [['opencode', '--session'], {}],
])('the command line %j says %j', (argv, opened) => {
  expect(openedBy(argv)).toEqual(opened)
})

const shower = { pid: 10, directory: '/app', startedAt: 1_000, openedWith: {} }
const session = (id: string, updated: number, more: object = {}) => ({
  id,
  directory: '/app',
  time: { updated },
  ...more,
})
const idsShown = (...args: Parameters<typeof shownSessions>) => shownSessions(...args).map(({ id }) => id)

test('a process shows what has changed since it started, and what its events showed', () => {
  const all = [session('old', 900), session('new', 1_500), session('child', 1_500, { parentID: 'new' })]
  expect(idsShown(all, shower, new Map())).toEqual(['new'])
  expect(idsShown(all, shower, new Map([['new', 11]]))).toEqual([])
  expect(idsShown(all, shower, new Map([['old', 10]]))).toEqual(['old', 'new'])
})

test('a terminal that opened an earlier conversation shows it before its user writes', () => {
  const all = [session('older', 800), session('old', 900)]
  expect(idsShown(all, shower, new Map())).toEqual([])
  expect(idsShown(all, { ...shower, openedWith: { sessionId: 'older' } }, new Map())).toEqual(['older'])
  expect(idsShown(all, { ...shower, openedWith: { continues: true } }, new Map())).toEqual(['old'])
})
