// SendMessage (returnImmediately) over JSON-RPC: Rouse, durable, beside the SDK's own request handler with tasks in memory, and beside
// two floors: the same durable work with no product around it, alone and behind Express and the SDK's transport.
// Each server is a process of its own; the clients are in this one.
//   node bench/send-message.mjs [--reps 5] [--seconds 5] [--warm-up 10000] [--only rouse,scraped,traced] [--connections 64] [--senders 8] [--profile <dir>] [--quick]
import { Pool } from 'undici'
import { startCollector } from './lib/collector.mjs'
import { runIfMain, say } from './lib/command.mjs'
import { costTables } from './lib/cost-tables.mjs'
import { roomCosts } from './lib/cpu-profile.mjs'
import { liftRates, sendMessageCall, startGateway } from './lib/gateway.mjs'
import { busyShare } from './lib/machine.mjs'
import { cpuSeconds } from './lib/proc.mjs'
import { nextMessage, startNode, stopProcess } from './lib/processes.mjs'
import { quantile, ratios } from './lib/stats.mjs'
import { busyNote, number, spread, table, verdict } from './lib/table.mjs'
import { nowUs } from './lib/work.mjs'

export const title = 'SendMessage'
export const defaults = {
  reps: 5,
  seconds: 5,
  warmUp: 10_000,
  warmUpSeconds: 1,
  only: '',
  connections: '1,16,64',
  senders: 1,
  profile: '',
}
export const quick = { reps: 1, seconds: 1, warmUp: 1_000, warmUpSeconds: 0.5 }

/** At 64 connections. Of one sender eight requests are worked on at a time, so fewer share a commit. */
const barOf = (connections, senders) => (connections === 64 ? { atLeast: senders === 1 ? 1.1 : 1.3 } : undefined)
/** By connections: the CPU of a request, as a multiple of that of the floor behind Express and the SDK. */
const cpuBars = { 64: { atMost: 1.2 } }
/** A server that ran for hours has compiled what it runs, however few requests it gets now: each is warmed up with as many. */
const warmUpConnections = 64
const servers = {
  rouse: { title: 'Rouse (SQLite, agent key checked)', start: startRouse },
  scraped: { title: 'Rouse, with its metrics read once a second', start: startScraped, isExtra: true },
  traced: { title: 'Rouse, with a span of each call sent to a collector', start: startTraced, isExtra: true },
  sdk: {
    title: '@a2a-js/sdk DefaultRequestHandler (in memory, no authentication)',
    start: () => startPeer('sdk-server'),
  },
  floor: { title: 'floor: node:http and SQLite (durable, key looked up)', start: () => startPeer('floor-http') },
  floorExpress: {
    title: 'floor behind Express and the SDK (durable, no authentication)',
    start: () => startPeer('floor-express'),
  },
}

export async function measure({ reps, seconds, warmUp, warmUpSeconds, only, connections: counts, senders, profile }) {
  const runs = {}
  const names = only ? only.split(',') : Object.keys(servers).filter((name) => !servers[name].isExtra)
  const connectionCounts = counts.split(',').map(Number)
  for (let repetition = 0; repetition < reps; repetition++) {
    for (const connections of connectionCounts) {
      for (const name of names) {
        const { title, start } = servers[name]
        const busy = await busyShare()
        const server = await start({ profile, senders })
        let run
        try {
          await drive(server, { connections: warmUpConnections, count: warmUp })
          await drive(server, { connections, seconds: warmUpSeconds })
          run = { busy, ...(await drive(server, { connections, seconds })) }
          runs[`${connections} ${name}`] = [...(runs[`${connections} ${name}`] ?? []), run]
          say(
            `${repetition + 1}/${reps} ${connections} connections, ${title}: ${number(run.rate)}/s, ${number(run.cpu)} µs of CPU each ${run.invalid ?? ''}`,
          )
        } finally {
          await server.stop()
        }
        if (profile && name === 'rouse') run.costs = roomCosts(profile, server.pid, run.interval, run.cpu)
      }
    }
  }
  return [
    `${seconds} s after a warm-up of ${number(warmUp)} requests over ${warmUpConnections} connections and ${warmUpSeconds} s over as many as are measured, a fresh server for each run, ${senders} ${senders === 1 ? 'agent sends' : 'agents send'}; ${reps} repetitions. Median (min–max). ${busyNote(Object.values(runs).flat())}`,
    serverTable(runs),
    ratioTable(runs, connectionCounts, senders),
    cpuTable(runs, connectionCounts),
    ...(names.some((name) => servers[name].isExtra) ? [watchTable(runs, connectionCounts)] : []),
    ...costTables(costGroups(runs, connectionCounts), 'request'),
  ].join('\n\n')
}

/** Opens this many connections, each with one request at a time, for so many requests or seconds. Every answer must be a new submitted task. */
async function drive(
  { url, path, pid, headersOf },
  { connections, count: countMax = Number.POSITIVE_INFINITY, seconds = 300 },
) {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const latencies = []
  const tasks = new Set()
  let wrong
  const cpuBefore = cpuSeconds(pid)
  const from = nowUs()
  const startedAt = performance.now()
  const deadline = startedAt + seconds * 1000
  let sent = 0
  const client = async (index) => {
    const headers = headersOf(index)
    while (!wrong && sent < countMax && performance.now() < deadline) {
      sent++
      const sentAt = performance.now()
      const body = JSON.stringify(sendMessageCall('the build of last night is done, please look at it'))
      const answer = await pool.request({ method: 'POST', path, headers, body })
      const text = await answer.body.text()
      latencies.push(performance.now() - sentAt)
      const task = JSON.parse(text).result?.task
      if (task?.status.state === 'TASK_STATE_SUBMITTED') tasks.add(task.id)
      else wrong ??= text.slice(0, 300)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, index) => client(index)))
  const elapsed = (performance.now() - startedAt) / 1000
  const cpu = cpuSeconds(pid) - cpuBefore
  const interval = { from, to: nowUs() }
  await pool.close()
  const count = latencies.length
  return {
    rate: wrong || tasks.size !== count ? Number.NaN : count / elapsed,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpu: (cpu / count) * 1e6,
    interval,
    invalid: wrong
      ? `INVALID: ${wrong}`
      : tasks.size === count
        ? undefined
        : `INVALID: ${tasks.size} tasks of ${count}`,
  }
}

const plainHeaders = { 'content-type': 'application/json', 'a2a-version': '1.0' }

/** The caller is an agent with a key in the store, as a peer would be, and not the operator. */
async function startRouse({ profile, senders }, env = {}) {
  const gateway = await startGateway({ flags: profile ? ['--cpu-prof', '--cpu-prof-dir', profile] : [], env })
  await liftRates(gateway)
  await gateway.call('POST', '/v1/agents', { handle: 'donna' })
  const keys = []
  for (let index = 0; index < senders; index++) {
    keys.push((await gateway.call('POST', '/v1/agents', { handle: `peer${index}` })).apiKey)
  }
  const headersOf = (client) => ({ ...plainHeaders, authorization: `Bearer ${keys[client % keys.length]}` })
  return { gateway, url: gateway.url, path: '/agents/donna', pid: gateway.pid, headersOf, stop: gateway.stop }
}

async function startScraped(options) {
  const server = await startRouse(options, { ROUSE_METRICS: 'open' })
  const timer = setInterval(() => {
    fetch(`${server.url}/metrics`).then((answer) => answer.text())
  }, 1000)
  const stop = () => {
    clearInterval(timer)
    return server.stop()
  }
  return { ...server, stop }
}

async function startTraced(options) {
  const collector = await startCollector()
  const server = await startRouse(options, { ROUSE_OTLP_ENDPOINT: collector.url })
  return { ...server, stop: () => server.stop().finally(collector.stop) }
}

async function startPeer(file) {
  const child = startNode(`../peers/${file}.mjs`)
  const { port } = await nextMessage(child)
  const headersOf = () => plainHeaders
  return { url: `http://127.0.0.1:${port}`, path: '/', pid: child.pid, headersOf, stop: () => stopProcess(child) }
}

function serverTable(runs) {
  const head = ['connections', 'server', 'requests/s', 'p50 ms', 'p99 ms', 'server CPU µs/request', 'valid']
  const rows = Object.entries(runs).map(([key, all]) => {
    const [connections, name] = key.split(' ')
    const of = (field) => all.map((run) => run[field])
    const invalid = all.find((run) => run.invalid)?.invalid
    return [
      connections,
      servers[name].title,
      spread(of('rate')),
      spread(of('p50'), 2),
      spread(of('p99'), 2),
      spread(of('cpu')),
      invalid ?? 'yes',
    ]
  })
  return table(head, rows)
}

function ratioTable(runs, connectionCounts, senders) {
  const head = ['Rouse ÷ SDK', 'requests/s', 'bar', 'verdict']
  const rows = connectionCounts.map((connections) => {
    const of = (name) => valuesOf(runs, connections, name, 'rate')
    const values = ratios(of('rouse'), of('sdk'))
    return [`${connections} connections`, `${spread(values, 2)} ×`, ...verdict(values, barOf(connections, senders))]
  })
  return table(head, rows)
}

function cpuTable(runs, connectionCounts) {
  const head = ['server CPU, Rouse ÷ floor', 'node:http', 'Express and the SDK', 'bar', 'verdict']
  const rows = connectionCounts.map((connections) => {
    const of = (name) => valuesOf(runs, connections, name, 'cpu')
    const [least, express] = ['floor', 'floorExpress'].map((name) => ratios(of('rouse'), of(name)))
    const texts = [least, express].map((values) => `${spread(values, 2)} ×`)
    return [`${connections} connections`, ...texts, ...verdict(express, cpuBars[connections])]
  })
  return table(head, rows)
}

const costGroups = (runs, connectionCounts) =>
  Object.fromEntries(connectionCounts.map((count) => [`${count} connections`, runs[`${count} rouse`] ?? []]))

/** What it costs to be watched. Metrics are always counted; a scrape writes them down. */
function watchTable(runs, connectionCounts) {
  const rows = connectionCounts.flatMap((connections) =>
    [
      ['scraped', 0.97],
      ['traced', 0.9],
    ].map(([name, atLeast]) => {
      const values = ratios(valuesOf(runs, connections, name, 'rate'), valuesOf(runs, connections, 'rouse', 'rate'))
      return [`${connections} connections, ${name}`, `${spread(values, 2)} ×`, ...verdict(values, { atLeast })]
    }),
  )
  return table(['watched ÷ not watched', 'requests/s', 'bar', 'verdict'], rows)
}

/** One value of each repetition; none of a server that was not measured. */
const valuesOf = (runs, connections, name, field) => (runs[`${connections} ${name}`] ?? []).map((run) => run[field])

await runIfMain(import.meta, { title, defaults, quick, measure })
