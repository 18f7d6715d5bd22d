import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAdapter } from './bridge.ts'
import { FakeCodex } from './fake-codex.ts'

const { signal } = new AbortController()

function openOffice(settings: object = {}) {
  const codex = FakeCodex.start()
  const options = { homes: [codex.home], program: codex.program, ...settings }
  const { adapter } = startAdapter({ directories: [codex.project], settings: options })
  return { codex, probe: () => adapter.probe(signal) }
}

test('where Codex is not installed, nothing is there, and how to name it is said', async () => {
  const codex = FakeCodex.start()
  const { adapter } = startAdapter({ directories: [codex.project], settings: { homes: [codex.home] } })
  expect(await adapter.probe(signal)).toEqual({
    isThere: false,
    sessions: [],
    remarks: [expect.stringContaining('adapters.codex.program')],
  })
})

test('the conversations of a server have their state, their process and a route', async () => {
  const { codex, probe } = openOffice()
  const server = await codex.listen()
  const [idle, busy, asking] = [codex.addThread(), codex.addThread(), codex.addThread()] as const
  for (const thread of [idle, busy, asking]) server.load(thread)
  for (const thread of [busy, asking]) {
    thread.answers = false
    thread.prompt('work')
  }
  asking.ask()
  const { isThere, version, sessions } = await probe()
  expect({ isThere, version }).toEqual({ isThere: true, version: '0.169.0' })
  expect(sessions).toMatchObject([
    { conversationId: idle.id, cwd: codex.project, state: 'idle', route: 'app-server' },
    { conversationId: busy.id, state: 'active' },
    { conversationId: asking.id, state: 'waitingOnApproval' },
  ])
  if (process.platform === 'linux') expect(sessions[0]!.process).toMatchObject({ pid: process.pid })
})

test('what the server made for itself, what was never prompted, and what is elsewhere is not woken', async () => {
  const { codex, probe } = openOffice()
  const server = await codex.listen()
  const fresh = codex.addThread({ preview: '' })
  for (const thread of [codex.addThread({ ephemeral: true }), codex.addThread({ cwd: '/elsewhere' }), fresh]) {
    server.load(thread)
  }
  const { sessions } = await probe()
  expect(sessions).toMatchObject([{ conversationId: fresh.id, remark: expect.stringContaining('no prompt yet') }])
  expect(sessions[0]!.route).toBeUndefined()
})

test('a terminal of its own is found by the lock that it holds; a closed conversation has no route', async () => {
  const { codex, probe } = openOffice()
  const [open, closed] = [codex.addThread(), codex.addThread()] as const
  codex.openTerminal(open)
  const { sessions } = await probe()
  expect(sessions).toMatchObject([
    { conversationId: open.id, state: 'unknown', route: 'queue' },
    { conversationId: closed.id, state: 'unknown', remark: expect.stringContaining('closed') },
  ])
  expect(sessions[1]!.route).toBeUndefined()
})

test('where closed conversations may be opened, the newest of a directory without an open one can be', async () => {
  const { codex, probe } = openOffice({ resumeClosed: true })
  const [newer, older] = [codex.addThread(), codex.addThread()] as const
  const { sessions } = await probe()
  expect(sessions.map(({ conversationId, route }) => [conversationId, route])).toEqual([
    [newer.id, 'resume'],
    [older.id, undefined],
  ])
})

test('an old Codex, hooks that are not trusted, and a socket of others are remarks', async () => {
  const { codex, probe } = openOffice({})
  codex.faults.isOld = true
  codex.hooks.push({ command: 'rouse hook codex Stop', trustStatus: 'untrusted', enabled: true })
  await codex.listen(codex.controlSocket, 0o666)
  const { remarks } = await probe()
  expect(remarks).toEqual([
    expect.stringMatching(/not used: other users may write to it/),
    expect.stringMatching(/no queue of prompts: update it/),
    expect.stringMatching(/not trusted/),
  ])
})

test('a socket that a killed server has left, and one that does not exist, are nothing', async () => {
  const codex = FakeCodex.start()
  codex.kill(await codex.listen())
  const settings = { homes: [codex.home], program: codex.program, sockets: [join(codex.home, 'none.sock')] }
  const { adapter } = startAdapter({ directories: [], settings })
  expect((await adapter.probe(signal)).remarks).toEqual([])
})

test('a server that answers nothing costs its own conversations', async () => {
  const { codex, probe } = openOffice()
  const server = await codex.listen()
  server.load(codex.addThread())
  codex.faults.silent.add('thread/loaded/list')
  const { isThere, remarks } = await probe()
  expect(isThere).toBe(true)
  expect(remarks[0]).toMatch(/does not tell its conversations: .*no answer/)
})
