import type { LocalAddress } from '../../../bridge/local/address.ts'

/**
 * The program of our extension for Copilot CLI, which runs it beside each session and gives it the module that it imports. It loads
 * no module of Rouse, so that it works with a bridge of any version. It must print nothing: its standard output belongs to Copilot CLI. Pure. Source: "About extensions for GitHub Copilot CLI".
 */
export function extensionText({ path, directory }: LocalAddress): string {
  return `// Written by \`rouse install\`; \`rouse uninstall\` removes it.
// Takes the wakes of \`rouse bridge\` in this session.
import { joinSession } from '@github/copilot-sdk/extension'
import { lstatSync } from 'node:fs'
import { createConnection } from 'node:net'

const address = ${JSON.stringify(path)}
const directory = ${JSON.stringify(directory ?? null)}
const pauseMaxMs = 5_000
const silenceMs = 90_000
const rememberedMax = 100

let pauseMs = 250
let socket
let isAttached = false
let state
let turnId
/** The wakes of this session, by their ids: what is known of each. */
const wakes = new Map()

const session = await joinSession({
  hooks: {
    onSessionStart: () => become('idle'),
    onUserPromptSubmitted: () => become('active'),
  },
})

on('assistant.turn_start', ({ turnId: id }) => {
  become('active', typeof id === 'string' ? id : undefined)
  for (const [wakeId, known] of wakes) if (known.step === 'delivered') prove(wakeId, 'turn_started', 'assistant.turn_start')
})
on('session.idle', () => become('idle'))
for (const question of ['permission', 'user_input', 'elicitation']) {
  on(question + '.requested', () => become('waitingOnApproval'))
  on(question + '.completed', () => become('active'))
}
on('user.message', ({ content }) => {
  become('active')
  for (const wakeId of wakes.keys())
    if (String(content).includes('[Rouse ' + wakeId + ']')) prove(wakeId, 'delivered', 'user.message')
})
connect()

function on(type, noted) {
  session.on(type, (event) => noted(event?.data ?? {}))
}

function become(next, turn) {
  if (next === state && (turn ?? turnId) === turnId) return
  state = next
  turnId = next === 'idle' ? undefined : (turn ?? turnId)
  if (isAttached) say({ type: 'change', state, activeTurnId: turnId ?? null })
}

function prove(wakeId, step, proof) {
  const known = { ...wakes.get(wakeId), step, proof, ...(turnId === undefined ? {} : { turnId }) }
  wakes.set(wakeId, known)
  report(wakeId, known)
}

function report(wakeId, { step, proof, turnId: turn }) {
  if (step === undefined) return
  say({ type: 'report', wakeId, step, proof, conversationId: session.sessionId, ...(turn ? { turnId: turn } : {}) })
}

/** A bridge that was started again sends a wake again whose answer it has not read. */
async function take({ id, text }) {
  const known = wakes.get(id) ?? { sent: Promise.resolve().then(() => session.send({ prompt: text, mode: 'enqueue' })) }
  wakes.set(id, known)
  for (const oldest of wakes.keys()) if (wakes.size > rememberedMax) wakes.delete(oldest)
  try {
    await known.sent
    say({ type: 'taken', wakeId: id })
  } catch (error) {
    wakes.delete(id)
    say({ type: 'declined', wakeId: id, reason: (String(error?.message ?? error).split('\\n')[0] || 'no reason').slice(0, 500) })
  }
}

function act(message) {
  if (message.type === 'ping') say({ type: 'pong' })
  if (message.type === 'wake') void take(message.wake)
  if (message.type !== 'attached') return
  isAttached = true
  pauseMs = 250
  for (const [wakeId, known] of wakes) report(wakeId, known)
}

function say(message) {
  if (socket?.writable) socket.write(JSON.stringify(message) + '\\n')
}

/** Another user's socket would speak to this session. */
function isPrivate() {
  if (directory === null) return true
  const stats = lstatSync(directory, { throwIfNoEntry: false })
  return stats?.isDirectory() === true && stats.uid === process.getuid() && (stats.mode & 0o077) === 0
}

function connect() {
  if (!isPrivate()) return again()
  let rest = ''
  const own = createConnection(address)
  socket = own
  own.unref()
  own.setTimeout(silenceMs, () => own.destroy())
  own.on('connect', () =>
    say({
      type: 'attach',
      harness: 'copilot',
      route: 'extension',
      conversationId: session.sessionId,
      cwd: process.cwd(),
      process: { pid: process.ppid },
      ...(state === undefined ? {} : { state }),
      ...(turnId === undefined ? {} : { activeTurnId: turnId }),
    }),
  )
  own.on('error', () => {})
  own.on('close', () => {
    isAttached = false
    again()
  })
  own.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\\n')
    rest = lines.pop()
    if (rest.length > 65_536) return own.destroy()
    try {
      for (const line of lines) act(JSON.parse(line))
    } catch {
      own.destroy()
    }
  })
}

function again() {
  setTimeout(connect, pauseMs).unref()
  pauseMs = Math.min(pauseMaxMs, pauseMs * 2)
}
`
}
