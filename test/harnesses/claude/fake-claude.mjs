// A session of Claude Code in a terminal, as far as others can see it: registry, hooks, monitors, inbox, transcript. What it does was
// measured on 2.1.330. It answers nobody: what comes to it and is lost, is lost in silence.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

const { CLAUDE_CONFIG_DIR: config, FAKE_CLAUDE, FAKE_HEADLESS, FAKE_SOCKETS, ...ownEnv } = process.env
const { main, program, mode, version, isLate } = JSON.parse(FAKE_CLAUDE)
const record = join(config, 'sessions', `${process.pid}.json`)
const socketPath = join(FAKE_SOCKETS, `${process.pid}.sock`)
const transcripts = join(config, 'projects', process.cwd().replace(/[^A-Za-z0-9]/g, '-'))
const start = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1).split(' ')[19]
const holdMs = 5 * 60_000

let sessionId = randomUUID()
let status = 'idle'
let promptId
/** Moved by the test. */
let now = 0
let monitors = []
const waiters = new Set()
const queue = []
let held = []
const seen = new Set()

// The test may have gone first.
const say = (event) => process.connected && process.send(event, () => {})

function setStatus(next) {
  status = next === 'idle' && monitors.length > 0 ? 'shell' : next
  const waitingFor = status === 'waiting' ? { waitingFor: 'permission prompt' } : {}
  const inbox = version === '2.1.197' ? {} : { peerProtocol: 1, messagingSocketPath: socketPath }
  const facts = { pid: process.pid, procStart: start, sessionId, cwd: process.cwd(), startedAt: Date.now(), version }
  writeFileSync(
    record,
    JSON.stringify({ ...facts, kind: 'interactive', entrypoint: 'cli', status, ...waitingFor, ...inbox }),
  )
}

/** The lines that its transcript does not have yet; undefined: they are written at once. */
let unwritten = isLate ? [] : undefined

function write(entry) {
  if (unwritten) unwritten.push(entry)
  else appendFileSync(join(transcripts, `${sessionId}.jsonl`), `${JSON.stringify(entry)}\n`)
}

function run(command, input) {
  const env = {
    ...ownEnv,
    CLAUDE_CONFIG_DIR: config,
    CLAUDE_PID: String(process.pid),
    CLAUDE_CODE_SESSION_ID: sessionId,
    CLAUDE_CODE_ENTRYPOINT: FAKE_HEADLESS ? 'sdk-cli' : 'cli',
    CLAUDE_CODE_SESSION_ATTENDED: FAKE_HEADLESS ? '0' : '1',
    CLAUDECODE: '1',
  }
  // The program under test may run from its sources.
  const child = spawn('/bin/sh', ['-c', `exec ${command.replace(main, program)}`], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {})
  if (input) child.stdin.end(`${JSON.stringify(input)}\n`)
  return child
}

function ending(child) {
  const printed = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => (printed.stdout += chunk))
  child.stderr.on('data', (chunk) => (printed.stderr += chunk))
  return new Promise((done) => child.on('close', (code) => done({ code, ...printed })))
}

async function hooks(event, more = {}) {
  const path = join(config, 'settings.json')
  const settings = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  const input = {
    session_id: sessionId,
    transcript_path: join(transcripts, `${sessionId}.jsonl`),
    cwd: process.cwd(),
    hook_event_name: event,
    ...(promptId === undefined ? {} : { prompt_id: promptId, permission_mode: mode }),
    ...more,
  }
  const commands = (settings.hooks?.[event] ?? []).flatMap((group) => group.hooks)
  await Promise.all(
    commands.map(async ({ command, asyncRewake, timeout }) => {
      const child = run(command, input)
      if (!asyncRewake) return ending(child).then(({ code, stderr }) => say({ is: 'hook', event, code, stderr }))
      const waiter = { child, at: now + timeout * 1000 }
      waiters.add(waiter)
      void ending(child).then(({ code, stderr }) => {
        waiters.delete(waiter)
        say({ is: 'waiter', event, code, stderr })
        if (code === 2) come('task-notification', `Stop hook blocking error from command "${event}": ${stderr}`)
      })
    }),
  )
}

/** Something that is no prompt of the user's. */
function come(kind, text) {
  write({ type: 'queue-operation', operation: 'enqueue', content: text })
  queue.push({ kind, text })
  if (status === 'idle' || status === 'shell') void begin()
}

async function begin() {
  const { kind, text } = queue.shift()
  promptId = randomUUID()
  setStatus('busy')
  await hooks('UserPromptSubmit', { prompt: text })
  write({ type: 'user', origin: { kind }, promptSource: 'system', message: { role: 'user', content: text } })
  say({ is: 'turn', kind, text, promptId })
}

function rest() {
  setStatus('idle')
  if (queue.length > 0) void begin()
}

const acts = {
  prompt: async ({ text }) => {
    promptId = randomUUID()
    setStatus('busy')
    await hooks('UserPromptSubmit', { prompt: text })
    write({ type: 'user', message: { role: 'user', content: text } })
  },
  finish: async () => {
    await hooks('Stop', { stop_hook_active: false })
    rest()
  },
  ask: async () => {
    setStatus('waiting')
    await hooks('PermissionRequest', { tool_name: 'Bash' })
  },
  approve: async () => {
    setStatus('busy')
    for (const { text } of queue.splice(0)) {
      await hooks('UserPromptSubmit', { prompt: text })
      write({ type: 'queue-operation', operation: 'remove', content: text })
      write({ type: 'attachment', attachment: { type: 'queued_command', prompt: text } })
      say({ is: 'joined', text, promptId })
    }
  },
  // No hook runs, and what has come begins a turn at once.
  escape: () => rest(),
  clear: async () => {
    await hooks('SessionEnd', { reason: 'clear' })
    sessionId = randomUUID()
    promptId = undefined
    setStatus('idle')
    await hooks('SessionStart', { source: 'clear' })
  },
  // A process that ends meanwhile is reported to nobody.
  advance: ({ ms }) => {
    now += ms
    for (const waiter of waiters) if (waiter.at <= now) waiter.child.kill('SIGTERM')
    held = held.filter(({ at }) => at > now)
  },
  state: () =>
    say({ is: 'state', status, sessionId, waiters: waiters.size, monitors: monitors.length, held: held.length }),
  // The transcript comes after.
  write: () => {
    const entries = unwritten
    unwritten = undefined
    entries.forEach(write)
  },
  // Its transcript is not written yet.
  forget: () => rmSync(join(transcripts, `${sessionId}.jsonl`), { force: true }),
  exit: async () => {
    await hooks('SessionEnd', { reason: 'prompt_input_exit' })
    for (const { child } of waiters) child.kill('SIGTERM')
    for (const child of monitors) child.kill('SIGTERM')
    for (const path of [record, socketPath]) rmSync(path, { force: true })
    process.exit(0)
  },
}

function receive(line) {
  const { from, msg_id: id, message } = JSON.parse(line)
  const key = JSON.stringify([from, id])
  // A repetition is known by its sender.
  if (from !== undefined && seen.has(key)) return say({ is: 'repetition' })
  seen.add(key)
  if (mode === 'bypassPermissions') held.push({ at: now + holdMs })
  else come('peer', message.content.replace(/<\/?cross-session-message[^>]*>/g, '').trim())
}

mkdirSync(join(config, 'sessions'), { recursive: true })
mkdirSync(transcripts, { recursive: true })
const inbox = createServer((socket) => {
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    const lines = (text + chunk).split('\n')
    text = lines.pop()
    for (const line of lines) receive(line)
  })
})
if (version !== '2.1.197') await new Promise((done) => inbox.listen(socketPath, done))

const skills = join(config, 'skills')
for (const name of existsSync(skills) ? readdirSync(skills) : []) {
  const path = join(skills, name, 'monitors/monitors.json')
  if (!existsSync(join(skills, name, '.claude-plugin/plugin.json')) || !existsSync(path) || FAKE_HEADLESS) continue
  for (const { command } of JSON.parse(readFileSync(path, 'utf8'))) {
    const child = run(command)
    monitors.push(child)
    let text = ''
    child.stdout.on('data', (chunk) => {
      const lines = (text + chunk).split('\n')
      text = lines.pop()
      for (const line of lines) come('task-notification', `<event>${line}</event>`)
    })
    child.on('close', () => (monitors = monitors.filter((one) => one !== child)))
  }
}
setStatus('idle')
await hooks('SessionStart', { source: 'startup' })
process.on('message', async ({ act, ...more }) => {
  await acts[act](more)
  say({ is: 'done', act })
})
process.on('disconnect', () => process.exit(0))
say({ is: 'open', sessionId })
