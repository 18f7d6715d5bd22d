// The cost that grows with the store: answers, wakes and reads at a thousand and at a million stored tasks, with ten and with ten
// thousand subscriptions, one request at a time over HTTP. The big stores take some minutes and some gigabytes to make.
//   node bench/growth.mjs [--reps 5] [--samples 300] [--tasks 1000000] [--subscriptions 10000] [--quick]
import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startArrivals } from './lib/arrivals.mjs'
import { runIfMain, say } from './lib/command.mjs'
import { liftRates, sendMessage, startGateway } from './lib/gateway.mjs'
import { addSubscriptions, fillStore } from './lib/grown-store.mjs'
import { busyShare } from './lib/machine.mjs'
import { makeDirectory, removeDirectory } from './lib/processes.mjs'
import { quantile, ratios } from './lib/stats.mjs'
import { busyNote, number, spread, table, verdict } from './lib/table.mjs'

export const title = 'Growth'
export const defaults = { reps: 5, samples: 300, warmUp: 100, tasks: 1_000_000, subscriptions: 10_000 }
export const quick = { reps: 1, samples: 50, warmUp: 20, tasks: 20_000, subscriptions: 500 }

const small = { tasks: 1_000, subscriptions: 10 }
const steps = {
  accept: 'SendMessage → answered',
  wake: 'SendMessage → wake arrives',
  read: 'GET /v1/tasks/{id}',
  listOwn: "GET /v1/tasks, an agent's",
  listAll: "GET /v1/tasks, the operator's",
}

export async function measure({ reps, samples, warmUp, tasks, subscriptions }) {
  const arrivals = await startArrivals(({ messageId, subject }) => subject ?? messageId)
  const stores = []
  try {
    stores.push(await makeStore(small, arrivals.url))
    stores.push(await makeStore({ tasks, subscriptions: small.subscriptions }, arrivals.url))
    stores.push(await makeStore({ tasks, subscriptions }, arrivals.url, stores[1]))
    const busy = await busyShare()
    for (const store of stores) store.gateway = await startGateway({ dataDir: store.dataDir })
    for (const store of stores) await sampleAll(store, arrivals, warmUp)
    for (let repetition = 0; repetition < reps; repetition++) {
      for (const store of stores) store.repetitions.push(await sampleAll(store, arrivals, samples))
      say(`${repetition + 1}/${reps} ${stores.map((store) => describe(store)).join(', ')}`)
    }
    const note = `${samples} of each step in each of ${reps} repetitions, the stores alternately, one request at a time. Ten agents share the stored tasks. Median (min–max) in ms; ratios of p99 against the small store. ${busyNote([{ busy }])}`
    return `${note}\n\n${report(stores)}`
  } finally {
    arrivals.stop()
    for (const store of stores) {
      await store.gateway?.stop()
      removeDirectory(store.dataDir)
    }
  }
}

async function makeStore({ tasks, subscriptions }, url, from) {
  const startedAt = performance.now()
  const dataDir = makeDirectory('grown')
  if (from) copyFileSync(join(from.dataDir, 'rouse.db'), join(dataDir, 'rouse.db'))
  const ids = from ? from.ids : await fillStore(dataDir, tasks)
  await addSubscriptions(dataDir, subscriptions, url)
  const store = { tasks, subscriptions, dataDir, ids, sample: 0, repetitions: [] }
  say(`made ${describe(store)}, ${megabytes(store)} MB, in ${number((performance.now() - startedAt) / 1000)} s`)
  return store
}

async function sampleAll(store, arrivals, count) {
  const samples = Object.fromEntries(Object.keys(steps).map((step) => [step, []]))
  await liftRates(store.gateway)
  store.agentKey ??= (await store.gateway.call('POST', '/v1/agents/agent0/keys', {})).apiKey
  for (let i = 0; i < count; i++) {
    for (const [step, ms] of Object.entries(await sample(store, arrivals))) samples[step].push(ms)
  }
  return samples
}

async function sample(store, arrivals) {
  const { gateway, ids, agentKey } = store
  const n = store.sample++
  const text = `growth ${store.tasks} ${store.subscriptions} ${n}`
  const sentAt = performance.now()
  await sendMessage(gateway, `agent${n % store.subscriptions}`, text)
  const accept = performance.now() - sentAt
  const wake = (await arrivals.of(text)) - sentAt
  const timed = async (path, key) => {
    const startedAt = performance.now()
    await gateway.call('GET', path, undefined, key)
    return performance.now() - startedAt
  }
  const read = await timed(`/v1/tasks/${ids[(n * 7919) % ids.length]}`)
  const listOwn = await timed('/v1/tasks?role=assignee', agentKey)
  const listAll = await timed('/v1/tasks')
  return { accept, wake, read, listOwn, listAll }
}

function report([base, ...grown]) {
  const head = ['step', 'stored', 'p50', 'p99', 'p99 ÷ small', 'bar', 'verdict']
  const rows = Object.entries(steps).flatMap(([step, name]) => {
    const at = (store, q) => store.repetitions.map((samples) => quantile(samples[step], q))
    const columns = (store) => [name, describe(store), spread(at(store, 0.5), 2), spread(at(store, 0.99), 2)]
    const ratioColumns = (store) => {
      const ratio = ratios(at(store, 0.99), at(base, 0.99))
      return [`${spread(ratio, 2)} ×`, ...verdict(ratio, { atMost: 1.5 })]
    }
    return [[...columns(base), '1 ×', '–', '–'], ...grown.map((store) => [...columns(store), ...ratioColumns(store)])]
  })
  return table(head, rows)
}

const describe = ({ tasks, subscriptions }) => `${number(tasks)} tasks, ${number(subscriptions)} subscriptions`
const megabytes = ({ dataDir }) => number(statSync(join(dataDir, 'rouse.db')).size / 2 ** 20)

await runIfMain(import.meta, { title, defaults, quick, measure })
