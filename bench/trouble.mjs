// The effect of failing receivers on healthy ones. Of 100 subscriptions over four receivers, a quarter goes to a receiver that
// is dead, three eighths meet 500s (10 %) and stalls of 5 s (1 %) on the other three, three eighths are healthy there.
//   node bench/trouble.mjs [--reps 5] [--seconds 15] [--rate 300] [--quick]
import { runIfMain, say } from './lib/command.mjs'
import { engines } from './lib/engines.mjs'
import { measure as measureEngine } from './lib/measure.mjs'
import { freePort } from './lib/processes.mjs'
import { ratios } from './lib/stats.mjs'
import { busyNote, number, spread, table, verdict } from './lib/table.mjs'
import { receiverCount } from './lib/work.mjs'

export const title = 'Trouble'
export const defaults = { reps: 5, seconds: 15, warmUpSeconds: 3, rate: 300, settleSeconds: 60 }
export const quick = { reps: 1, seconds: 6, warmUpSeconds: 1 }

const isDead = (index) => index % receiverCount === receiverCount - 1
const isTroubled = (index) => !isDead(index) && Math.floor(index / receiverCount) % 2 === 1
/** `/others` is healthy, but what goes there is not what is measured. */
const pathOf = (trouble) => (index) => (isTroubled(index) ? trouble : isDead(index) ? '/others' : '/')

export async function measure({ reps, seconds, warmUpSeconds, rate, settleSeconds }) {
  const runs = { calm: [], troubled: [] }
  for (let repetition = 0; repetition < reps; repetition++) {
    const work = { rate, seconds, warmUpSeconds, settleMs: settleSeconds * 1000 }
    const deadPort = await freePort()
    runs.calm.push(await measureEngine(engines.rouse, work, { timed: true, pathOf: pathOf('/others') }))
    runs.troubled.push(await measureEngine(engines.rouse, work, { timed: true, pathOf: pathOf('/trouble'), deadPort }))
    const [calm, troubled] = [runs.calm.at(-1), runs.troubled.at(-1)].map((run) => run.received.wake)
    say(
      `${repetition + 1}/${reps} healthy p99 ${number(calm.p99, 2)} ms calm, ${number(troubled.p99, 2)} ms in trouble`,
    )
  }
  return [
    `${rate} events/s for ${seconds} s after ${warmUpSeconds} s of warm-up, over 100 subscriptions; ${reps} repetitions, with and without trouble alternately. The same healthy subscriptions are measured in both; they share three receivers with the troubled ones. Median (min–max). ${busyNote([...runs.calm, ...runs.troubled])}`,
    latencyTable(runs),
    accountTable(runs),
  ].join('\n\n')
}

function latencyTable(runs) {
  const wake = (kind, field) => runs[kind].map((run) => run.received.wake[field])
  const rows = ['p50', 'p99'].map((field) => {
    const ratio = ratios(wake('troubled', field), wake('calm', field))
    const bar = field === 'p99' ? { atMost: 1.2 } : undefined
    const columns = [spread(wake('calm', field), 2), spread(wake('troubled', field), 2), `${spread(ratio, 2)} ×`]
    return [`healthy receivers, wake ${field}`, ...columns, ...verdict(ratio, bar)]
  })
  return table(['', 'calm, ms', 'trouble, ms', 'ratio', 'bar', 'verdict'], rows)
}

/** Every accepted event is delivered, recorded as failed after its last attempt, or waits after its subscription's cursor. */
function accountTable(runs) {
  const rows = Object.entries(runs).flatMap(([kind, all]) =>
    all.map((run, index) => {
      const sum = (field) => run.account.reduce((total, one) => total + one[field], 0)
      const [delivered, failed, waiting] = ['delivered', 'failed', 'waiting'].map(sum)
      const lost = run.accepted - delivered - failed - waiting + Math.max(0, delivered - run.received.unique)
      const degraded = run.account.filter(({ status }) => status === 'degraded').length
      return [
        kind,
        index + 1,
        run.accepted,
        delivered,
        run.received.unique,
        failed,
        waiting,
        degraded,
        lost === 0 ? 'nothing' : `LOST ${lost}`,
      ]
    }),
  )
  return table(
    [
      '',
      'run',
      'accepted',
      'delivered, on record',
      'unique at the receivers',
      'failed, on record',
      'waiting',
      'degraded',
      'lost',
    ],
    rows,
  )
}

await runIfMain(import.meta, { title, defaults, quick, measure })
