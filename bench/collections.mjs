// Measures the time for which V8's minor collections stop a server at a steady rate of requests, and what they copy for each: what a
// request leaves behind stops the requests that come after it. Each server is a process of its own; the client is in this one.
//   node bench/collections.mjs [--reps 3] [--seconds 20] [--rate 200] [--only rouse,sdk] [--quick]
import { createInterface } from 'node:readline'
import { Pool } from 'undici'
import { runIfMain, say } from './lib/command.mjs'
import { liftRates, sendMessageCall, startGateway } from './lib/gateway.mjs'
import { busyShare } from './lib/machine.mjs'
import { nextMessage, startNode, stopProcess } from './lib/processes.mjs'
import { quantile } from './lib/stats.mjs'
import { busyNote, number, spread, table } from './lib/table.mjs'

export const title = 'Minor collections'
export const defaults = { reps: 3, seconds: 20, rate: 200, warmUp: 5_000, only: 'rouse,sdk' }
export const quick = { reps: 1, seconds: 5, warmUp: 1_000 }

const flags = ['--trace-gc', '--trace-gc-nvp']
const connections = 8
/** V8 prints one line for each collection. */
const line = /pause=([\d.]+) .* gc=s .* promoted=(\d+) new_space_survived=(\d+)/
const servers = {
  rouse: { title: 'Rouse (SQLite, agent key checked): SendMessage and inbox in turn', start: startRouse },
  sdk: { title: '@a2a-js/sdk DefaultRequestHandler (in memory): SendMessage', start: startSdk },
}

export async function measure({ reps, seconds, rate, warmUp, only }) {
  const chosen = Object.entries(servers).filter(([name]) => only.split(',').includes(name))
  const runs = Object.fromEntries(chosen.map(([name]) => [name, []]))
  for (let repetition = 0; repetition < reps; repetition++) {
    for (const [name, { start }] of chosen) {
      const busy = await busyShare()
      runs[name].push({ busy, ...(await run(start, { seconds, rate, warmUp })) })
      const { pauses, copied } = runs[name].at(-1)
      say(`${repetition + 1}/${reps} ${name}: ${pauses.length} collections, ${number(copied)} bytes for each request`)
    }
  }
  const rows = chosen.map(([name, server]) => {
    const of = (pick) => runs[name].map(pick)
    return [
      server.title,
      spread(of(({ pauses }) => pauses.length)),
      spread(
        of(({ pauses }) => quantile(pauses, 0.5)),
        2,
      ),
      spread(
        of(({ pauses }) => Math.max(...pauses)),
        2,
      ),
      spread(of(({ copied }) => copied)),
    ]
  })
  const head = ['server', 'collections', 'pause p50, ms', 'longest, ms', 'bytes copied a request']
  const note = `${rate} requests a second for ${seconds} s over ${connections} connections, after ${number(warmUp)} requests; ${reps} repetitions. Median (min–max). ${busyNote(Object.values(runs).flat())}`
  return `${note}\n\n${table(head, rows)}`
}

async function run(start, { seconds, rate, warmUp }) {
  const pauses = []
  let bytes = 0
  let isMeasured = false
  const server = await start((text) => {
    const found = isMeasured && line.exec(text)
    if (!found) return
    pauses.push(Number(found[1]))
    bytes += Number(found[2]) + Number(found[3])
  })
  const pool = new Pool(server.url, { connections, pipelining: 1 })
  try {
    await Promise.all(Array.from({ length: connections }, () => sendAll(server, pool, warmUp / connections)))
    isMeasured = true
    await sendAtRate(server, pool, { seconds, rate })
  } finally {
    await pool.close()
    await server.stop()
  }
  return { pauses, copied: bytes / (seconds * rate) }
}

async function sendAll(server, pool, count) {
  for (let index = 0; index < count; index++) await send(server, pool, index)
}

async function sendAtRate(server, pool, { seconds, rate }) {
  const begin = performance.now()
  const going = []
  for (let index = 0; index < seconds * rate; index++) {
    const meant = begin + (index * 1_000) / rate
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, meant - performance.now())))
    going.push(send(server, pool, index))
  }
  await Promise.all(going)
}

async function send({ path, readPath, headers }, pool, index) {
  const isRead = readPath !== undefined && index % 2 === 1
  const body = JSON.stringify(sendMessageCall('the build of last night is done, please look at it'))
  const request = isRead ? { method: 'GET', path: readPath } : { method: 'POST', path, body }
  const answer = await pool.request({ ...request, headers })
  const text = await answer.body.text()
  if (answer.statusCode !== 200 || text.includes('"error"')) throw new Error(`A request was answered with ${text}`)
}

async function startRouse(onLine) {
  const gateway = await startGateway({ flags, onLine })
  await liftRates(gateway)
  await gateway.call('POST', '/v1/agents', { handle: 'donna' })
  const { apiKey } = await gateway.call('POST', '/v1/agents', { handle: 'peer' })
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${apiKey}` }
  return { url: gateway.url, path: '/agents/donna', readPath: '/v1/inbox?limit=5', headers, stop: gateway.stop }
}

async function startSdk(onLine) {
  const child = startNode('../peers/sdk-server.mjs', [], {
    execArgv: flags,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  createInterface({ input: child.stdout }).on('line', onLine)
  const { port } = await nextMessage(child)
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
  return { url: `http://127.0.0.1:${port}`, path: '/', headers, stop: () => stopProcess(child) }
}

await runIfMain(import.meta, { title, defaults, quick, measure })
