import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import PgBoss from 'pg-boss'
import { batched } from '../lib/batched.mjs'
import { deliver, Poster } from '../lib/work.mjs'
import { countAttempts, createAttempts, keepAttempts } from './attempt-table.mjs'

const queue = 'wakes'
const fetchers = 2

/**
 * pg-boss with its batch calls: two loops that fetch 100 jobs each, one `complete` for each batch. The attempts of a batch
 * are one insert beside it. `settings.bulk`: code in front of it joins events that arrive together.
 */
export async function open({ targets, settings, service }) {
  const boss = new PgBoss({ connectionString: service, max: 20, supervise: false, schedule: false, retryLimit: 5 })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue(queue)
  const pool = new pg.Pool({ connectionString: service, max: 4 })
  await createAttempts(pool)
  const poster = new Poster()
  let recorded = 0
  let stopping = false
  const insert = batched((jobs) => boss.insert(jobs.map((data) => ({ name: queue, data }))))
  const send = settings.bulk ? insert : (data) => boss.send(queue, data)

  const loops = Array.from({ length: fetchers }, async () => {
    while (!stopping) {
      const jobs = await boss.fetch(queue, { batchSize: 100 })
      if (jobs.length === 0) {
        await sleep(5)
        continue
      }
      const attempts = await Promise.all(jobs.map(({ data }) => deliver(poster, targets, data)))
      await keepAttempts(pool, attempts)
      await boss.complete(
        queue,
        jobs.map(({ id }) => id),
      )
      recorded += jobs.length
    }
  })

  return {
    accept: (index, text) => send({ index, text }),
    get recorded() {
      return recorded
    },
    records: () => countAttempts(pool),
    async close() {
      stopping = true
      await Promise.all(loops)
      await boss.stop({ graceful: false })
      await pool.end()
      await poster.close()
    },
  }
}
