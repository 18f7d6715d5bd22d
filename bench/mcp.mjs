// 2,000 agents, each with an MCP session whose stream is open: what they cost in memory, how long a wake takes, and how long it
// takes until all of them are back after a restart of the gateway.
//   node bench/mcp.mjs [--reps 1] [--sessions 2000] [--wakes 300] [--quick]
import { Agent, get } from 'node:http'
import { runIfMain, say } from './lib/command.mjs'
import { concurrently } from './lib/concurrently.mjs'
import { liftRates, startGateway } from './lib/gateway.mjs'
import { busyShare } from './lib/machine.mjs'
import { residentMemory } from './lib/proc.mjs'
import { makeDirectory, removeDirectory } from './lib/processes.mjs'
import { quantile } from './lib/stats.mjs'
import { busyNote, number, spread, table } from './lib/table.mjs'

export const title = 'MCP sessions'
export const defaults = { reps: 1, sessions: 2_000, wakes: 300 }
export const quick = { sessions: 100, wakes: 30 }

const accept = { accept: 'application/json, text/event-stream' }
const env = { ROUSE_CONNECTIONS_PER_ADDRESS: '0', ROUSE_LOG_LEVEL: 'warn' }

export async function measure({ reps, sessions, wakes }) {
  const runs = []
  const busy = await busyShare()
  for (let repetition = 0; repetition < reps; repetition++) {
    runs.push(await run(sessions, wakes))
    say(`${repetition + 1}/${reps} ${sessions} sessions`)
  }
  const of = (field) => runs.map((one) => one[field])
  const rows = [
    ['resident memory without a session, MB', spread(of('idle'), 1)],
    [`resident memory with ${number(sessions)} open streams, MB`, spread(of('open'), 1)],
    ['begin a session and open its stream, 32 at a time, ms each', spread(of('begin'), 2)],
    ['POST /v1/messages → notification arrives, p50, ms', spread(of('p50'), 2)],
    ['… p99, ms', spread(of('p99'), 2)],
    ['restart: all streams requested at once → the median one is open, ms', spread(of('back50'), 0)],
    ['… → the last one is open, ms', spread(of('backAll'), 0)],
  ]
  const lost = of('missed').reduce((sum, one) => sum + one, 0)
  const note = `${number(sessions)} agents with one session and one subscription each; ${wakes} wakes one after the other, and ${wakes} while the gateway was being restarted, of which ${lost} were missed; ${reps} repetitions. ${busyNote([{ busy }])}`
  return `${note}\n\n${table(['', ''], rows)}`
}

async function run(count, wakes) {
  const dataDir = makeDirectory('mcp')
  let gateway = await startGateway({ dataDir, env })
  await liftRates(gateway)
  const agents = await concurrently(32, count, (index) => makeAgent(gateway, index))
  const idle = residentMemory(gateway.pid).now
  const beganAt = performance.now()
  await concurrently(32, count, async (index) => {
    agents[index].session = await begin(gateway, agents[index])
    await openStream(gateway, agents[index])
  })
  const begin1 = (performance.now() - beganAt) / count
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const open = residentMemory(gateway.pid).now
  const latencies = []
  for (let i = 0; i < wakes; i++) latencies.push(await wake(gateway, agents[(i * 7) % count], `wake ${i}`))
  for (const agent of agents) agent.close()
  await gateway.stop()
  gateway = await startGateway({ dataDir, env })
  const missedOf = agents.slice(0, wakes)
  for (const agent of missedOf) await send(gateway, agent, `missed ${agent.handle}`)
  const restartedAt = performance.now()
  const back = await Promise.all(
    agents.map((agent) => openStream(gateway, agent).then(() => performance.now() - restartedAt)),
  )
  const arrived = await Promise.all(missedOf.map((agent) => agent.heard(`missed ${agent.handle}`, 10_000)))
  for (const agent of agents) agent.close()
  await gateway.stop()
  removeDirectory(dataDir)
  const at = (values, q) => quantile(values, q)
  return {
    idle,
    open,
    begin: begin1,
    p50: at(latencies, 0.5),
    p99: at(latencies, 0.99),
    back50: at(back, 0.5),
    backAll: Math.max(...back),
    missed: arrived.filter((one) => one === undefined).length,
  }
}

async function makeAgent(gateway, index) {
  const handle = `agent${index}`
  const { apiKey } = await gateway.call('POST', '/v1/agents', { handle })
  const wanted = {
    trigger: 'SENT_TO_ME',
    harnessTarget: 'mcp-notifications',
    harnessTargetMetadata: { coalesceWindow: 0 },
  }
  await gateway.call('POST', '/v1/wake-subscriptions', wanted, apiKey)
  return listener(handle, apiKey)
}

function listener(handle, key) {
  const texts = []
  const waiting = new Set()
  return {
    handle,
    key,
    close() {},
    take(text) {
      texts.push(text)
      for (const check of waiting) check()
    },
    /** Resolves with the instant at which a notification with this text came; undefined after the time-out. */
    heard(part, timeoutMs = 30_000) {
      return new Promise((resolve) => {
        const done = (at) => {
          waiting.delete(check)
          clearTimeout(timer)
          resolve(at)
        }
        const check = () => texts.some((text) => text.includes(part)) && done(performance.now())
        const timer = setTimeout(() => done(undefined), timeoutMs)
        waiting.add(check)
        check()
      })
    },
  }
}

async function begin(gateway, { key }) {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: { experimental: { 'neo-wake-substrate': { version: '1.0' } } },
    clientInfo: { name: 'bench', version: '1' },
  }
  const answer = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: { ...accept, 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  await answer.arrayBuffer()
  return answer.headers.get('mcp-session-id')
}

const connections = new Agent({ maxSockets: Number.POSITIVE_INFINITY })

/** Resolves when the first event has come. */
function openStream(gateway, agent) {
  const { session, key, lastId } = agent
  const resumed = lastId === undefined ? {} : { 'last-event-id': lastId }
  return new Promise((resolve, reject) => {
    const headers = {
      accept: 'text/event-stream',
      'mcp-session-id': session,
      authorization: `Bearer ${key}`,
      ...resumed,
    }
    const request = get(`${gateway.url}/mcp`, { agent: connections, headers }, (answer) => {
      if (answer.statusCode !== 200) return reject(new Error(`GET /mcp answered ${answer.statusCode}`))
      let text = ''
      answer.setEncoding('utf8').on('data', (part) => {
        text += part
        const blocks = text.split('\n\n')
        text = blocks.pop()
        for (const block of blocks) {
          agent.lastId = /^id: (.*)$/m.exec(block)?.[1] ?? agent.lastId
          agent.take(block)
        }
        resolve()
      })
      answer.on('error', () => {})
    })
    request.on('error', reject)
    agent.close = () => request.destroy()
  })
}

const send = (gateway, { handle }, subject) => gateway.call('POST', '/v1/messages', { to: `@${handle}`, subject })

async function wake(gateway, agent, subject) {
  const sentAt = performance.now()
  await send(gateway, agent, subject)
  return (await agent.heard(`"${subject}"`)) - sentAt
}

await runIfMain(import.meta, { title, defaults, quick, measure })
