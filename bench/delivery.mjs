// Durable accept → sign → POST → record, beside what others would use for it.
//   node bench/delivery.mjs [--reps 5] [--events 20000] [--only rouse,bullmq-always] [--quick]
import { runIfMain, say } from './lib/command.mjs'
import { engines } from './lib/engines.mjs'
import { invalidity, measure as measureEngine } from './lib/measure.mjs'
import { ratios, summary } from './lib/stats.mjs'
import { busyNote, number, spread, table, verdict } from './lib/table.mjs'

export const title = 'Delivery'
export const defaults = { reps: 5, events: 20_000, warmUp: 3_000, inFlight: 100, only: '', profile: '' }
export const quick = { reps: 1, events: 3_000, warmUp: 500 }

/** What Rouse is held against. Of several engines, the fastest counts. */
const bars = [
  { against: ['undici-50', 'undici-100'], name: 'undici Pool, unsigned, nothing kept', bar: { atLeast: 0.5 } },
  { against: ['undici-signed-50', 'undici-signed-100'], name: 'undici Pool, signed, nothing kept' },
  { against: ['bullmq-always'], name: 'BullMQ, AOF always', bar: { atLeast: 2.5 } },
  { against: ['bullmq-always-bulk'], name: 'BullMQ, AOF always, adds joined in bulk', bar: { atLeast: 2.5 } },
  { against: ['bullmq-everysec'], name: 'BullMQ, AOF everysec' },
  { against: ['bullmq-everysec-bulk'], name: 'BullMQ, AOF everysec, adds joined in bulk' },
  { against: ['pg-boss'], name: 'pg-boss (Rouse embedded)' },
  { against: ['pg-boss-bulk'], name: 'pg-boss, adds joined in bulk (Rouse embedded)' },
  { against: ['graphile-worker'], name: 'graphile-worker (Rouse embedded)' },
  { against: ['graphile-worker-bulk'], name: 'graphile-worker, adds joined in bulk (Rouse embedded)' },
  { against: ['sdk-push'], name: '@a2a-js/sdk push sender', bar: { atLeast: 4 } },
]

export async function measure(options) {
  const { reps, events, warmUp, inFlight, only, profile } = options
  const chosen = only ? only.split(',') : Object.keys(engines)
  const runs = Object.fromEntries(chosen.map((name) => [name, []]))
  for (let repetition = 0; repetition < reps; repetition++) {
    for (const name of chosen) {
      const run = await measureEngine(engines[name], { events, warmUp, inFlight }, { profile })
      runs[name].push(run)
      say(`${repetition + 1}/${reps} ${engines[name].title}: ${progress(run)}`)
    }
  }
  return [
    `N = ${number(events)} after ${number(warmUp)} of warm-up, ${inFlight} accepts in flight, 100 subscriptions with a key each, 4 receivers; ${reps} repetitions, one engine after the other in each. Median (min–max). CPU in µs per event. ${busyNote(Object.values(runs).flat())}`,
    engineTable(runs),
    ratioTable(runs),
  ].join('\n\n')
}

const rate = (run) => (run.unavailable || invalidity(run) ? Number.NaN : run.count / run.seconds)

function engineTable(runs) {
  const head = [
    'engine',
    'events/s',
    'accepts/s',
    'sender CPU',
    'receiver CPU',
    'store CPU',
    'bytes',
    'n = unique = N',
    'lacks',
  ]
  const rows = Object.entries(runs).map(([name, all]) => {
    const { title, lacks = '' } = engines[name]
    const absent = all.find((run) => run.unavailable)
    if (absent) return [title, `not measured: ${absent.unavailable}`, '–', '–', '–', '–', '–', '–', lacks]
    const invalid = all.map(invalidity).find((why) => why)
    const version = all[0].serviceVersion
    return [
      version ? `${title} (${version})` : title,
      spread(all.map(rate)),
      spread(all.map((run) => run.count / run.acceptSeconds)),
      spread(all.map((run) => run.cpu.sender)),
      spread(all.map((run) => run.cpu.receiver)),
      version ? spread(all.map((run) => run.cpu.service)) : 'in the sender',
      number(all[0].received.bytes / all[0].received.requests),
      invalid ? `INVALID: ${invalid}` : 'yes',
      lacks,
    ]
  })
  return table(head, rows)
}

function ratioTable(runs) {
  const head = ['Rouse ÷ peer', 'append', 'bar', 'verdict', 'SendMessage']
  const rows = bars.flatMap(({ against, name, bar }) => {
    const measured = against.filter((peer) => runs[peer])
    if (measured.length === 0 || !runs.rouse) return []
    const theirs = runs[measured[0]].map((_, rep) => Math.max(...measured.map((peer) => rate(runs[peer][rep]))))
    const append = ratios(runs.rouse.map(rate), theirs)
    const whole = runs['rouse-send-message'] ? ratios(runs['rouse-send-message'].map(rate), theirs) : []
    return [
      [
        name,
        summary(append) ? `${spread(append, 2)} ×` : '–',
        ...verdict(append, bar),
        whole.length ? `${spread(whole, 2)} ×` : '–',
      ],
    ]
  })
  rows.push([
    'the same on PostgreSQL, one and two gateways',
    '–',
    '≥ 3',
    'not measured: this build has no PostgreSQL store',
    '–',
  ])
  return table(head, rows)
}

function progress(run) {
  if (run.unavailable) return `not measured: ${run.unavailable}`
  const { sender, receiver, service } = run.cpu
  const why = invalidity(run)
  return `${number(run.count / run.seconds)}/s, CPU µs ${number(sender)} + ${number(receiver)} + ${number(service)}${why ? ` INVALID ${why}` : ''}`
}

await runIfMain(import.meta, { title, defaults, quick, measure })
