// Measures the time from a client's SendMessage to the wake's arrival, and that of a whole submitted → working → completed round trip,
// one at a time on an idle gateway with coalescing window 0. The gateway is a process of its own, and answers after its own fdatasync.
//   node bench/wake-latency.mjs [--reps 5] [--tasks 200] [--quick]
import { startArrivals } from './lib/arrivals.mjs'
import { runIfMain, say } from './lib/command.mjs'
import { liftRates, sendMessage, startGateway } from './lib/gateway.mjs'
import { busyShare } from './lib/machine.mjs'
import { quantile } from './lib/stats.mjs'
import { busyNote, spread, table, verdict } from './lib/table.mjs'

export const title = 'Latency of an idle gateway'
export const defaults = { reps: 5, tasks: 200, warmUp: 100 }
export const quick = { reps: 1, tasks: 50, warmUp: 20 }

const steps = [
  { field: 'accept', name: 'SendMessage → answered (durable)' },
  { field: 'wake', name: 'SendMessage → wake arrives', bars: { p50: { atMost: 1.8 }, p99: { atMost: 6 } } },
  { field: 'roundTrip', name: 'submitted → working → completed, woken', bars: { p99: { atMost: 50 } } },
]

export async function measure({ reps, tasks, warmUp }) {
  const gateway = await startGateway()
  const arrivals = await startArrivals(({ taskId, newState }) => `${taskId} ${newState}`)
  try {
    await liftRates(gateway)
    const { apiKey } = await gateway.call('POST', '/v1/agents', { handle: 'donna' })
    // The agent's own moves are what is measured.
    const target = { url: arrivals.url, coalesceWindow: 0, includeOwn: true }
    const wanted = { trigger: 'TASK_STATE_CHANGED', harnessTargetMetadata: target }
    await gateway.call('POST', '/v1/wake-subscriptions', wanted, apiKey)
    const busy = await busyShare()
    for (let i = 0; i < warmUp; i++) await roundTrip(gateway, arrivals, apiKey)
    const repetitions = []
    for (let repetition = 0; repetition < reps; repetition++) {
      const samples = []
      for (let i = 0; i < tasks; i++) samples.push(await roundTrip(gateway, arrivals, apiKey))
      repetitions.push(samples)
      say(`${repetition + 1}/${reps} idle gateway`)
    }
    return `${tasks} tasks one after the other, over HTTP; ${reps} repetitions. Median (min–max) in ms. ${busyNote([{ busy }])}\n\n${report(repetitions)}`
  } finally {
    arrivals.stop()
    await gateway.stop()
  }
}

async function roundTrip(gateway, arrivals, apiKey) {
  const sentAt = performance.now()
  const { id } = await sendMessage(gateway, 'donna', 'measure this')
  const acceptedAt = performance.now()
  const wokenAt = await arrivals.of(`${id} Submitted`)
  const move = (to, expectedVersion) =>
    gateway.call('POST', `/v1/tasks/${id}/transitions`, { to, expectedVersion }, apiKey)
  await move('working', 1)
  await move('completed', 2)
  const doneAt = await arrivals.of(`${id} Completed`)
  await arrivals.of(`${id} Working`)
  return { accept: acceptedAt - sentAt, wake: wokenAt - sentAt, roundTrip: doneAt - sentAt }
}

function report(repetitions) {
  const rows = steps.flatMap(({ field, name, bars = {} }) =>
    Object.entries({ p50: 0.5, p99: 0.99 }).map(([label, q]) => {
      const values = repetitions.map((samples) =>
        quantile(
          samples.map((sample) => sample[field]),
          q,
        ),
      )
      return [name, label, spread(values, 2), ...verdict(values, bars[label])]
    }),
  )
  return table(['step', '', 'ms', 'bar', 'verdict'], rows)
}

await runIfMain(import.meta, { title, defaults, quick, measure })
