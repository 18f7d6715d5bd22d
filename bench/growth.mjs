// The cost that grows with the store: answers, wakes and reads of a small store and of one with a million tasks and ten thousand
// subscriptions, one request at a time over HTTP. The big store takes some minutes and some gigabytes to make.
//   node bench/growth.mjs [--postgres] [--reps 5] [--samples 300] [--tasks 1000000] [--subscriptions 10000] [--quick]
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { startArrivals } from './lib/arrivals.mjs'
import { runIfMain, say } from './lib/command.mjs'
import { liftRates, startGateway } from './lib/gateway.mjs'
import { addSubscriptions, fillStore } from './lib/grown-store.mjs'
import { prepareSteps, steps, takeSteps } from './lib/growth-steps.mjs'
import { busyShare } from './lib/machine.mjs'
import { migrateStore } from './lib/migrate-store.mjs'
import { start as startPostgres } from './lib/postgres.mjs'
import { residentMemory } from './lib/proc.mjs'
import { makeDirectory, removeDirectory } from './lib/processes.mjs'
import { quantile, ratios } from './lib/stats.mjs'
import { busyNote, number, spread, table, verdict } from './lib/table.mjs'

export const title = 'Growth'
export const defaults = {
  reps: 5,
  samples: 300,
  warmUp: 100,
  tasks: 1_000_000,
  subscriptions: 10_000,
  postgres: false,
}
export const quick = { reps: 1, samples: 50, warmUp: 20, tasks: 20_000, subscriptions: 500 }

const small = { tasks: 1_000, subscriptions: 10 }

export async function measure({ reps, samples, warmUp, tasks, subscriptions, postgres }) {
  const arrivals = await startArrivals(({ messageId, subject }) => subject ?? messageId)
  const server = postgres ? await startPostgres() : undefined
  const stores = []
  try {
    for (const size of [small, { tasks, subscriptions }]) stores.push(await makeStore(size, arrivals.url, server))
    const busy = await busyShare()
    for (let repetition = 0; repetition < reps; repetition++) {
      for (const store of stores) await restart(store)
    }
    for (const store of stores) await prepareSteps(store)
    for (const store of stores) await takeMany(store, arrivals, warmUp)
    for (let repetition = 0; repetition < reps; repetition++) {
      for (const store of stores) store.repetitions.push(await takeMany(store, arrivals, samples))
      say(`${repetition + 1}/${reps} ${stores.map(({ name }) => name).join(', ')}`)
    }
    const engine = server ? server.version : 'SQLite'
    const note = `${engine}; ${samples} of each step in each of ${reps} repetitions, the stores alternately, one request at a time. Ten agents share the stored tasks. Small: ${stores[0].name}; big: ${stores[1].name}. Median (min–max) in ms; big ÷ small of p50 and of p99. ${busyNote([{ busy }])}`
    return [note, stepTable(stores), startTable(stores)].join('\n\n')
  } finally {
    arrivals.stop()
    for (const store of stores) {
      await store.gateway?.stop()
      removeDirectory(store.dataDir)
    }
    await server?.stop()
  }
}

async function makeStore({ tasks, subscriptions }, url, server) {
  const startedAt = performance.now()
  const dataDir = makeDirectory('grown')
  const name = `${number(tasks)} tasks, ${number(subscriptions)} subscriptions`
  const ids = await fillStore(dataDir, tasks)
  await addSubscriptions(dataDir, subscriptions, url)
  const size = number(statSync(join(dataDir, 'rouse.db')).size / 2 ** 20)
  const databaseUrl = server && (await migrateStore(dataDir, server.address, `tasks_${tasks}`))
  say(`made ${name}, ${size} MB on SQLite, in ${number((performance.now() - startedAt) / 1000)} s`)
  return { name, subscriptions, dataDir, databaseUrl, ids, sample: 0, repetitions: [], starts: [], megabytes: [] }
}

/** Starts the gateway of a store anew, and notes how long that takes and the memory that it then has. */
async function restart(store) {
  await store.gateway?.stop()
  const { dataDir, databaseUrl } = store
  const startedAt = performance.now()
  store.gateway = databaseUrl
    ? await startGateway({ env: { ROUSE_DATABASE_URL: databaseUrl } })
    : await startGateway({ dataDir })
  store.starts.push(performance.now() - startedAt)
  store.megabytes.push(residentMemory(store.gateway.pid).now)
}

async function takeMany(store, arrivals, count) {
  const samples = Object.fromEntries(steps.map((step) => [step, []]))
  await liftRates(store.gateway)
  for (let i = 0; i < count; i++) {
    for (const [step, ms] of Object.entries(await takeSteps(store, arrivals))) samples[step].push(ms)
  }
  return samples
}

function stepTable([base, big]) {
  const head = ['step', 'small p50', 'small p99', 'big p50', 'big p99', 'p50 ÷', 'p99 ÷', 'bar of p99', 'verdict']
  const rows = steps.map((step) => {
    const at = (store, q) => store.repetitions.map((samples) => quantile(samples[step], q))
    const ms = [base, big].flatMap((store) => [spread(at(store, 0.5), 2), spread(at(store, 0.99), 2)])
    const [middle, high] = [0.5, 0.99].map((q) => ratios(at(big, q), at(base, q)))
    return [step, ...ms, `${spread(middle, 2)} ×`, `${spread(high, 2)} ×`, ...verdict(high, { atMost: 1.5 })]
  })
  return table(head, rows)
}

function startTable([base, big]) {
  const row = (name, of) => {
    const ratio = `${spread(ratios(of(big), of(base)), 2)} ×`
    return [name, spread(of(base)), spread(of(big)), ratio]
  }
  return table(
    ['', 'small', 'big', 'big ÷ small'],
    [
      row('`rouse serve` → listening, ms', ({ starts }) => starts),
      row('resident memory then, MB', ({ megabytes }) => megabytes),
    ],
  )
}

await runIfMain(import.meta, { title, defaults, quick, measure })
