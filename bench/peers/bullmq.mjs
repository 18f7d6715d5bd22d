import { Queue, Worker } from 'bullmq'
import { batched } from '../lib/batched.mjs'
import { deliver, Poster } from '../lib/work.mjs'

/**
 * BullMQ as a team would set it up: 100 jobs at a time, five attempts with backoff, completed jobs kept. The attempt is the
 * return value that BullMQ keeps with the job. `settings.bulk`: code in front of it joins events that arrive together.
 */
export async function open({ targets, settings, service }) {
  const connection = { ...service, maxRetriesPerRequest: null }
  const poster = new Poster()
  const queue = new Queue('wakes', {
    connection,
    defaultJobOptions: { attempts: 5, backoff: { type: 'exponential', delay: 1000 } },
  })
  let recorded = 0
  const worker = new Worker('wakes', (job) => deliver(poster, targets, job.data), { connection, concurrency: 100 })
  worker.on('completed', () => recorded++)
  worker.on('error', (error) => console.error(error))
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
  const addBulk = batched((jobs) => queue.addBulk(jobs.map((data) => ({ name: 'wake', data }))))
  const add = settings.bulk ? addBulk : (data) => queue.add('wake', data)

  return {
    accept: (index, text) => add({ index, text }),
    get recorded() {
      return recorded
    },
    records: () => queue.getCompletedCount(),
    async close() {
      await worker.close()
      await queue.close()
      await poster.close()
    },
  }
}
