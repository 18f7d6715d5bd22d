// 1,000 MCP tasks that are followed at once, each with a held poll: what they cost in memory, what a SendMessage takes beside them, and how
// long it takes from the end of a task to the answer of its poll.
//   node bench/followers.mjs [--reps 1] [--followers 1000] [--sends 1000] [--ends 300] [--quick]
import { Agent, request } from 'node:http'
import { runIfMain, say } from './lib/command.mjs'
import { concurrently } from './lib/concurrently.mjs'
import { liftRates, sendMessage, startGateway } from './lib/gateway.mjs'
import { busyShare } from './lib/machine.mjs'
import { residentMemory } from './lib/proc.mjs'
import { makeDirectory, removeDirectory } from './lib/processes.mjs'
import { quantile } from './lib/stats.mjs'
import { busyNote, number, spread, table } from './lib/table.mjs'

export const title = 'Followed MCP tasks'
export const defaults = { reps: 1, followers: 1_000, sends: 1_000, ends: 300 }
export const quick = { followers: 100, sends: 100, ends: 30 }

const env = { ROUSE_CONNECTIONS_PER_ADDRESS: '0', ROUSE_LOG_LEVEL: 'warn' }
const agentsMax = 50
const settleMs = 3_000

export async function measure({ reps, followers, sends, ends }) {
  const runs = []
  const busy = await busyShare()
  for (let repetition = 0; repetition < reps; repetition++) {
    runs.push(await run(followers, sends, Math.min(ends, followers)))
    say(`${repetition + 1}/${reps} ${followers} followers`)
  }
  const of = (field) => runs.map((one) => one[field])
  const rows = [
    ['resident memory without a follower, MB', spread(of('idle'), 1)],
    [`resident memory with ${number(followers)} held polls, MB`, spread(of('held'), 1)],
    ['SendMessage, one after the other, without followers, p50, ms', spread(of('alone50'), 2)],
    ['… p99, ms', spread(of('alone99'), 2)],
    [`SendMessage beside ${number(followers)} held polls, p50, ms`, spread(of('beside50'), 2)],
    ['… p99, ms', spread(of('beside99'), 2)],
    ['the end of a task → its poll is answered, p50, ms', spread(of('end50'), 2)],
    ['… p99, ms', spread(of('end99'), 2)],
  ]
  const note = `${number(followers)} tasks of ${agentsMax} agents over \`/mcp\`; ${sends} messages and ${ends} ends, one after the other; ${reps} repetitions. ${busyNote([{ busy }])}`
  return `${note}\n\n${table(['', ''], rows)}`
}

async function run(count, sends, ends) {
  const dataDir = makeDirectory('followers')
  const gateway = await startGateway({ dataDir, env })
  await liftRates(gateway)
  await gateway.call('PATCH', '/v1/projects/default', { limits: { blockingCalls: 0, heavyPerMinute: 0 } })
  const worker = await addAgent(gateway, 'worker')
  const agents = await concurrently(8, agentsMax, (index) => addAgent(gateway, `agent${index}`))
  await timedSends(gateway, agents, 100)
  const alone = await timedSends(gateway, agents, sends)
  const idle = residentMemory(gateway.pid).now
  const tasks = await concurrently(8, count, (index) => follow(gateway, agents[index % agentsMax], index))
  for (const task of tasks) task.polled = poll(gateway, task)
  await new Promise((resolve) => setTimeout(resolve, settleMs))
  const held = residentMemory(gateway.pid).now
  const beside = await timedSends(gateway, agents, sends)
  const took = []
  for (let i = 0; i < ends; i++) took.push(await end(gateway, worker, tasks[i]))
  for (const { gone } of tasks) gone()
  await gateway.stop()
  removeDirectory(dataDir)
  const [alone50, alone99] = [quantile(alone, 0.5), quantile(alone, 0.99)]
  const [beside50, beside99] = [quantile(beside, 0.5), quantile(beside, 0.99)]
  return { idle, held, alone50, alone99, beside50, beside99, end50: quantile(took, 0.5), end99: quantile(took, 0.99) }
}

async function addAgent(gateway, handle) {
  return { handle, key: (await gateway.call('POST', '/v1/agents', { handle })).apiKey }
}

async function timedSends(gateway, agents, count) {
  const took = []
  for (let i = 0; i < count; i++) {
    const at = performance.now()
    await sendMessage(gateway, 'worker', `message ${i}`, agents[i % agentsMax].key)
    took.push(performance.now() - at)
  }
  return took
}

/** Has an agent send a task and follow it. */
async function follow(gateway, { key }, index) {
  const { id } = await sendMessage(gateway, 'worker', `followed ${index}`, key)
  const { followerId } = await gateway.call('POST', '/v1/followers', { taskId: id }, key)
  return { id, key, followerId, gone() {}, answeredAt: undefined }
}

const connections = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
const version = '2026-07-28'

/** Polls as a client of MCP does. Resolves when the task has an end. */
async function poll({ url }, task) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  }
  const params = { taskId: task.followerId, _meta }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params })
  const headers = {
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${task.key}`,
    'content-type': 'application/json',
    'mcp-protocol-version': version,
    'mcp-method': 'tasks/get',
    'mcp-name': task.followerId,
  }
  for (let isOver = false; !isOver; ) {
    const answer = await new Promise((resolve) => {
      const asking = request(`${url}/mcp`, { method: 'POST', agent: connections, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part) => (text += part))
        response.on('end', () => resolve(text))
        response.on('error', () => resolve(''))
      })
      asking.on('error', () => resolve(''))
      task.gone = () => asking.destroy()
      asking.end(body)
    })
    isOver = !answer.includes('"status":"working"')
  }
  task.answeredAt = performance.now()
}

async function end(gateway, { key }, task) {
  const at = performance.now()
  const move = { to: 'completed', expectedVersion: 1, message: 'done' }
  await gateway.call('POST', `/v1/tasks/${task.id}/transitions`, move, key)
  await task.polled
  return task.answeredAt - at
}

await runIfMain(import.meta, { title, defaults, quick, measure })
