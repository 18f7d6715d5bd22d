// One bridge for 200 agents, each with a live conversation: its memory, what it costs while nothing happens, and how much longer a wake
// takes to the harness than to a program that reads the stream itself.
//   node bench/bridge.mjs [--reps 1] [--agents 200] [--wakes 300] [--idle-seconds 30] [--quick]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runIfMain, say } from './lib/command.mjs'
import { concurrently } from './lib/concurrently.mjs'
import { liftRates, startGateway } from './lib/gateway.mjs'
import { busyShare } from './lib/machine.mjs'
import { cpuSeconds, residentMemory } from './lib/proc.mjs'
import { makeDirectory, nextMessage, removeDirectory, startNode, stopProcess } from './lib/processes.mjs'
import { quantile } from './lib/stats.mjs'
import { busyNote, number, spread, table, verdict } from './lib/table.mjs'

export const title = 'The bridge'
export const defaults = { reps: 1, agents: 200, wakes: 300, idleSeconds: 30 }
export const quick = { agents: 20, wakes: 30, idleSeconds: 3 }

const bars = { idle: { atMost: 1 }, added: { atMost: 20 } }
const instant = () => performance.timeOrigin + performance.now()
const startedAt = new Date(Date.now() - 60_000).toISOString()

export async function measure({ reps, agents, wakes, idleSeconds }) {
  const runs = []
  const busy = await busyShare()
  for (let repetition = 0; repetition < reps; repetition++) {
    runs.push(await run(agents, wakes, idleSeconds))
    say(`${repetition + 1}/${reps} ${agents} agents`)
  }
  const of = (field) => runs.map((one) => one[field])
  const row = (what, field, digits, bar) => [what, spread(of(field), digits), ...verdict(of(field), bar)]
  const rows = [
    row('resident memory, MB', 'memory', 1),
    row('all streams open after, ms', 'connected', 0),
    row('CPU while nothing happens, % of a core', 'idle', 2, bars.idle),
    row('POST /v1/messages → read from a stream, p50, ms', 'direct50', 2),
    row('POST /v1/messages → handed over by the bridge, p50, ms', 'bridged50', 2),
    row('… p99, ms', 'bridged99', 2),
    row('added by the bridge, p50, ms', 'added', 2, bars.added),
  ]
  const note = `One bridge for ${number(agents)} agents, each with a session and a conversation of a harness that begins at once; ${wakes} wakes one after the other; ${idleSeconds} s of rest; ${reps} repetitions. ${busyNote([{ busy }])}`
  return `${note}\n\n${table(['', 'result', 'bar', ''], rows)}`
}

async function run(count, wakes, idleSeconds) {
  const home = makeDirectory('bridge')
  const gateway = await startGateway({ env: { ROUSE_CONNECTIONS_PER_ADDRESS: '0', ROUSE_LOG_LEVEL: 'warn' } })
  await liftRates(gateway)
  const agents = await concurrently(32, count, (index) => makeAgent(gateway, home, index))
  const plain = await makeReader(gateway)
  const bridge = startNode('./bridge-process.mjs', [], { serialization: 'json' })
  try {
    const beganAt = performance.now()
    bridge.send({ agents, url: gateway.url, home })
    await nextMessage(bridge, 60_000)
    const connected = performance.now() - beganAt
    const bridged = []
    const direct = []
    for (let index = 0; index < wakes; index++) {
      bridged.push(await bridgedWake(gateway, bridge, agents[(index * 7) % count], `wake ${index}`))
      direct.push(await plain.wake(`wake ${index}`))
    }
    // Waits until the work that the wakes have left is done.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    const before = cpuSeconds(bridge.pid)
    await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1_000))
    const idle = ((cpuSeconds(bridge.pid) - before) / idleSeconds) * 100
    const [direct50, bridged50] = [quantile(direct, 0.5), quantile(bridged, 0.5)]
    const bridged99 = quantile(bridged, 0.99)
    const memory = residentMemory(bridge.pid).now
    return { memory, connected, idle, direct50, bridged50, bridged99, added: bridged50 - direct50 }
  } finally {
    plain.close()
    await stopProcess(bridge)
    await gateway.stop()
    removeDirectory(home)
  }
}

async function makeAgent(gateway, home, index) {
  const handle = `agent${index}`
  const { apiKey: key } = await gateway.call('POST', '/v1/agents', { handle })
  const directory = join(home, 'projects', handle)
  mkdirSync(directory, { recursive: true })
  const conversationId = `conversation-${index}`
  const pid = 100_000 + index
  const session = { surface: 'bench', pid, startedAt, harness: { cwd: directory, sessionId: conversationId } }
  await gateway.call('POST', '/v1/sessions', session, key)
  return { handle, key, directory, conversationId, pid, startedAt }
}

async function bridgedWake(gateway, bridge, { handle, conversationId }, subject) {
  const sentAt = instant()
  const woken = nextMessage(bridge, 30_000)
  await gateway.call('POST', '/v1/messages', { to: `@${handle}`, subject })
  const { woken: by, text, at } = await woken
  if (by !== conversationId || (!text.includes(`${subject}\\"`) && !text.includes(`${subject}"`)))
    throw new Error(`${handle} was not woken: ${text}`)
  return at - sentAt
}

/** An agent whose wakes this process reads itself. */
async function makeReader(gateway) {
  const handle = 'reader'
  const { apiKey: key } = await gateway.call('POST', '/v1/agents', { handle })
  const wanted = {
    trigger: 'SENT_TO_ME',
    harnessTarget: 'bridge-daemon',
    harnessTargetMetadata: { coalesceWindow: 0 },
  }
  const { subscriptionId } = await gateway.call('POST', '/v1/wake-subscriptions', wanted, key)
  const closing = new AbortController()
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${key}` }
  const path = `/v1/wake-stream?subscription=${encodeURIComponent(subscriptionId)}&capabilities=spawn`
  const answer = await fetch(gateway.url + path, { headers, signal: closing.signal })
  const seen = new Map()
  let note = () => {}
  const read = async () => {
    let text = ''
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      const at = instant()
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop()
      for (const block of blocks) {
        const { eventId, payload } = JSON.parse(/^data: (\{.*)$/m.exec(block)?.[1] ?? '{}')
        if (!eventId) continue
        seen.set(payload.subject, at)
        note()
        // The next wake comes when this one has ended.
        await gateway.call('POST', '/v1/wake-stream/receipts', [{ eventId, step: 'delivered' }], key)
      }
    }
  }
  read().catch(() => {})
  return {
    close: () => closing.abort(),
    async wake(subject) {
      const sentAt = instant()
      const arrived = new Promise((resolve) => {
        note = () => seen.has(subject) && resolve(seen.get(subject))
      })
      await gateway.call('POST', '/v1/messages', { to: `@${handle}`, subject })
      note()
      return (await arrived) - sentAt
    },
  }
}

await runIfMain(import.meta, { title, defaults, quick, measure })
