// Open loop: events at a steady rate, whatever becomes of those before; how long until the answer, how long until the
// webhook arrives. Engines run in a process of their own and are driven from within it, not over HTTP.
//   node bench/latency.mjs [--reps 5] [--seconds 8] [--rates 100,500] [--only rouse,bullmq-always] [--quick]
import { runIfMain, say } from './lib/command.mjs'
import { chosenEngines, engines } from './lib/engines.mjs'
import { invalidity, measure as measureEngine } from './lib/measure.mjs'
import { busyNote, number, spread, table, verdict } from './lib/table.mjs'

export const title = 'Latency under a steady load'
const all = 'rouse,rouse-send-message,bullmq-always,rouse-pg-1,rouse-pg-2,rouse-pg-3,pg-boss,graphile-worker'
export const defaults = { reps: 5, seconds: 8, warmUp: 10_000, warmUpSeconds: 2, rates: '100,500,1000,2000', only: all }
export const quick = { reps: 1, seconds: 2, warmUp: 500, warmUpSeconds: 1 }

/** Of the warm-up, for each gateway: a sender that ran for hours has compiled what it runs. */
const inFlight = 100

/** By events a second. */
const bars = { 100: { p50: { atMost: 5 }, p99: { atMost: 20 } }, 2000: { p99: { atMost: 100 } } }

export async function measure({ reps, seconds, warmUp, warmUpSeconds, rates, only }) {
  const names = chosenEngines(only)
  const runs = {}
  for (let repetition = 0; repetition < reps; repetition++) {
    for (const rate of rates.split(',').map(Number)) {
      for (const name of names) {
        const work = { rate, seconds, warmUp, inFlight, warmUpSeconds }
        const run = await measureEngine(engines[name], work, { timed: true })
        runs[`${rate} ${name}`] = [...(runs[`${rate} ${name}`] ?? []), run]
        say(`${repetition + 1}/${reps} ${rate}/s ${engines[name].title}: ${progress(run)}`)
      }
    }
  }
  return [
    `${seconds} s after a warm-up of ${number(warmUp)} events for each gateway and ${warmUpSeconds} s at the same rate; ${reps} repetitions. Median (min–max) in ms, counted from the moment at which an event was due; the driver's timer adds up to 1 ms to each. ${busyNote(Object.values(runs).flat())}`,
    report(runs),
  ].join('\n\n')
}

function report(runs) {
  const head = [
    'events/s',
    'engine',
    'reached/s',
    'ack p50',
    'ack p99',
    'wake p50',
    'wake p99',
    'bar (wake)',
    'verdict',
    'n = unique = N',
  ]
  const rows = Object.entries(runs).map(([key, all]) => {
    const [rate, name] = key.split(' ')
    const { title } = engines[name]
    const absent = all.find((run) => run.unavailable)
    if (absent) return [rate, title, `not measured: ${absent.unavailable}`, ...Array(7).fill('–')]
    const invalid = all.map(invalidity).find((why) => why)
    const wake = (field) => all.map((run) => (invalidity(run) ? Number.NaN : run.received.wake[field]))
    const bar = name.startsWith('rouse') ? bars[rate] : undefined
    const [[p50Bar, p50Verdict], [p99Bar, p99Verdict]] = ['p50', 'p99'].map((field) =>
      verdict(wake(field), bar?.[field]),
    )
    return [
      rate,
      title,
      spread(all.map((run) => run.rate)),
      spread(
        all.map((run) => run.ack.p50),
        2,
      ),
      spread(
        all.map((run) => run.ack.p99),
        2,
      ),
      spread(wake('p50'), 2),
      spread(wake('p99'), 2),
      bar ? `p50 ${p50Bar}, p99 ${p99Bar}` : 'no bar',
      bar ? `${p50Verdict}, ${p99Verdict}` : '–',
      invalid ? `INVALID: ${invalid}` : 'yes',
    ]
  })
  return table(head, rows)
}

function progress(run) {
  if (run.unavailable) return `not measured: ${run.unavailable}`
  const { wake } = run.received
  const { sender, service } = run.cpu
  const cpu = [sender, service].map((microseconds) => (Number.isNaN(microseconds) ? '–' : number(microseconds)))
  return `wake p50 ${number(wake.p50, 2)} p99 ${number(wake.p99, 2)} ms, CPU ${cpu.join(' + ')} µs ${invalidity(run) ?? ''}`
}

await runIfMain(import.meta, { title, defaults, quick, measure })
