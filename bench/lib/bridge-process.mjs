// `rouse bridge` in a process of its own, for many agents, with a harness that is a program of no vendor: it has one idle conversation
// for each agent, and begins a turn at once. Everything else is what users run.
import { join } from 'node:path'
import { build } from './rouse.mjs'

const load = (path) => import(new URL(path, build).href)
const { runBridge } = await load('bridge/run/bridge.js')
const { Journal } = await load('bridge/journal/journal.js')

process.on('disconnect', () => process.exit(1))
const { agents, url, home } = await new Promise((resolve) => process.once('message', resolve))

const now = () => Date.now()
const instant = () => performance.timeOrigin + performance.now()
const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, 'config'), XDG_STATE_HOME: join(home, 'state') }
const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort(new Error('stopped')))

const sessions = agents.map(({ conversationId, directory, pid, startedAt }) => ({
  harness: 'acp',
  conversationId,
  cwd: directory,
  process: { pid, startedAt },
  state: 'idle',
  route: 'bench',
}))

const row = {
  id: 'acp',
  title: 'A harness that begins at once',
  proves: ['written', 'turn_started'],
  settings: {},
  create: () => ({
    probe: async () => ({ isThere: true, sessions, remarks: [] }),
    async watch(noteSession, signal) {
      for (const session of sessions) noteSession(session)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    },
    async wake(session, wake, tools) {
      await tools.handingOver('bench')
      process.send({ woken: session.conversationId, text: wake.text, at: instant() })
      return { step: 'turn_started', detail: 'bench' }
    },
    find: async () => 'unknown',
    async [Symbol.asyncDispose]() {},
  }),
}

/** No program of ours runs inside this harness. */
const startLocal = async () => ({
  address: 'none',
  attached: () => [],
  onChange: () => () => {},
  reported: (_wakeId, _isEnough, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
  async [Symbol.asyncDispose]() {},
})

const config = {
  path: join(home, 'bridge.json'),
  adapters: {},
  maxTurnsAMinute: 10_000,
  agents: agents.map(({ handle, key, directory }) => ({
    profile: { name: handle, url, key, identity: `@${handle}` },
    harnesses: ['acp'],
    directories: [directory],
    triggers: ['SENT_TO_ME', 'TASK_STATE_CHANGED'],
    turnsAnHour: 10_000,
    wakesFromOneAgentAnHour: 10_000,
  })),
}

let connected = 0
const note = (text) => {
  if (!text.endsWith(': connected')) return void console.error(text)
  connected += 1
  if (connected === agents.length) process.send({ ready: true })
}

const journal = Journal.open({ path: join(home, 'bridge.db'), now, note })
const io = { stdout() {}, stderr: (text) => process.stderr.write(text), env, signal: stopping.signal }
try {
  await runBridge({ config, rows: [row], journal, startLocal, io, now, note, noteReceipt() {} })
} catch (error) {
  if (!stopping.signal.aborted) throw error
} finally {
  journal[Symbol.dispose]()
}
process.exit(0)
