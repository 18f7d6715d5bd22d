import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { batched } from '../lib/batched.mjs'
import { deliver, Poster } from '../lib/work.mjs'
import { countAttempts, createAttempts, keepAttempts } from './attempt-table.mjs'

const quiet = new Logger(() => () => {})

/**
 * graphile-worker with its local queue and batched completion. It forgets a job that is done, so the attempt is a row of
 * our own, inserted in batches. `settings.bulk`: code in front of it joins events that arrive together.
 */
export async function open({ targets, settings, service: connectionString }) {
  const pool = new pg.Pool({ connectionString, max: 20 })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  await createAttempts(pool)
  const poster = new Poster()
  let recorded = 0
  const keep = batched((attempts) => keepAttempts(pool, attempts), { batchMax: 500 })
  const utils = await makeWorkerUtils({ pgPool: pool, logger: quiet })
  await utils.migrate()
  const runner = await run({
    preset: {
      worker: {
        pgPool: pool,
        logger: quiet,
        concurrentJobs: 100,
        pollInterval: 500,
        localQueue: { size: 500, refetchDelay: { durationMs: 5 } },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    pgPool: pool,
    logger: quiet,
    noHandleSignals: true,
    taskList: {
      async wake(job) {
        await keep(await deliver(poster, targets, job))
        recorded++
      },
    },
  })
  const addJobs = batched((jobs) =>
    utils.addJobs(jobs.map((payload) => ({ identifier: 'wake', payload, maxAttempts: 5 }))),
  )
  const add = settings.bulk ? addJobs : (payload) => utils.addJob('wake', payload, { maxAttempts: 5 })

  return {
    accept: (index, text) => add({ index, text }),
    get recorded() {
      return recorded
    },
    records: () => countAttempts(pool),
    async close() {
      await runner.stop()
      await utils.release()
      await pool.end().catch(() => {})
      await poster.close()
    },
  }
}
