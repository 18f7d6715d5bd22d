// Durable accept → sign → POST → record, beside what others would use for it.
//   node bench/delivery.mjs [--reps 5] [--events 20000] [--only rouse,bullmq-always] [--tls] [--profile <dir>] [--quick]
import { runIfMain, say } from './lib/command.mjs'
import { costTables } from './lib/cost-tables.mjs'
import { chosenEngines, engines } from './lib/engines.mjs'
import { invalidity, measure as measureEngine } from './lib/measure.mjs'
import { ratios, summary } from './lib/stats.mjs'
import { busyNote, number, spread, table, verdict } from './lib/table.mjs'

export const title = 'Delivery'
export const defaults = { reps: 5, events: 20_000, warmUp: 10_000, inFlight: 100, only: '', profile: '', tls: false }
export const quick = { reps: 1, events: 3_000, warmUp: 500 }

/** The peers that Rouse is compared with. Of several engines, the fastest counts. */
const bars = [
  { against: ['floor'], name: 'floor: rows, two signatures and a POST, no engine', bar: { atLeast: 0.6 } },
  { against: ['undici-50', 'undici-100'], name: 'undici Pool, unsigned, nothing kept' },
  { against: ['undici-signed-50', 'undici-signed-100'], name: 'undici Pool, signed, nothing kept' },
  { against: ['bullmq-always'], name: 'BullMQ, AOF always', bar: { atLeast: 1.6 } },
  { against: ['bullmq-always-bulk'], name: 'BullMQ, AOF always, adds joined in bulk' },
  { against: ['bullmq-everysec'], name: 'BullMQ, AOF everysec' },
  { against: ['bullmq-everysec-bulk'], name: 'BullMQ, AOF everysec, adds joined in bulk' },
  { against: ['sdk-push'], name: '@a2a-js/sdk push sender', bar: { atLeast: 3 } },
]

/** The same on PostgreSQL: one gateway beside the queues there, more beside one. */
const postgresBars = [
  { against: ['pg-boss'], name: 'pg-boss', bar: { atLeast: 3.5 } },
  { against: ['pg-boss-bulk'], name: 'pg-boss, adds joined in bulk' },
  { against: ['graphile-worker'], name: 'graphile-worker', bar: { atLeast: 5 } },
  { against: ['graphile-worker-bulk'], name: 'graphile-worker, adds joined in bulk' },
]
const moreGateways = ['', '-confined'].flatMap((share) =>
  [2, 3].map((count) => ({
    against: [`rouse-pg-1${share}`],
    name: `${count} gateways ÷ 1 gateway${share && ', each with 0.4 of a core'}`,
    bar: { atLeast: 1 },
    rouse: `rouse-pg-${count}${share}`,
  })),
)
const heldTransaction = { against: ['rouse-pg-1'], name: 'held transaction ÷ none', rouse: 'rouse-pg-1-held' }

export async function measure(options) {
  const { reps, events, warmUp, inFlight, only, profile, tls } = options
  const chosen = chosenEngines(only || Object.keys(engines).join(','))
  const runs = Object.fromEntries(chosen.map((name) => [name, []]))
  for (let repetition = 0; repetition < reps; repetition++) {
    for (const name of chosen) {
      const run = await measureEngine(engines[name], { events, warmUp, inFlight }, { profile, tls })
      runs[name].push(run)
      say(`${repetition + 1}/${reps} ${engines[name].title}: ${progress(run)}`)
    }
  }
  return [
    `N = ${number(events)} after ${number(warmUp)} of warm-up and with ${inFlight} accepts in flight, both for each gateway, 100 subscriptions with a key each, 4 receivers${tls ? ' that speak HTTPS' : ''}; ${reps} repetitions, one engine after the other in each. Median (min–max). CPU in µs per event. ${busyNote(Object.values(runs).flat())}`,
    engineTable(runs),
    ratioTable(runs),
    ...costTables(Object.fromEntries(chosen.map((name) => [engines[name].title, runs[name]])), 'event'),
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
    'the engine has no',
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
  const rows = [
    ...bars.map((one) => ratioRow(runs, { rouse: 'rouse', ...one })),
    ...postgresBars.map((one) => ratioRow(runs, { rouse: 'rouse-pg-1', ...one, name: `${one.name} (on PostgreSQL)` })),
    ...[...moreGateways, heldTransaction].map((one) => ratioRow(runs, one)),
  ].filter(Boolean)
  return table(head, rows)
}

function ratioRow(runs, { rouse, against, name, bar }) {
  const measured = against.filter((peer) => runs[peer])
  if (measured.length === 0 || !runs[rouse]) return undefined
  const beside = (mine, peers) => {
    const theirs = runs[peers[0]].map((_, rep) => Math.max(...peers.map((peer) => rate(runs[peer][rep]))))
    return ratios(runs[mine].map(rate), theirs)
  }
  const append = beside(rouse, measured)
  const whole = `${rouse}-send-message`
  const peers = measured[0].startsWith('rouse') ? [`${measured[0]}-send-message`] : measured
  const sendMessage = runs[whole] && runs[peers[0]] ? beside(whole, peers) : []
  const text = (values) => (summary(values) ? `${spread(values, 2)} ×` : '–')
  return [name, text(append), ...verdict(append, bar), text(sendMessage)]
}

function progress(run) {
  if (run.unavailable) return `not measured: ${run.unavailable}`
  const { sender, receiver, service } = run.cpu
  const why = invalidity(run)
  return `${number(run.count / run.seconds)}/s, CPU µs ${number(sender)} + ${number(receiver)} + ${number(service)}${why ? ` INVALID ${why}` : ''}`
}

await runIfMain(import.meta, { title, defaults, quick, measure })
