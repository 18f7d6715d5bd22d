import { appendFileSync, readFileSync } from 'node:fs'

/** Loaded into a gateway: writes down each time its event loop worked long without a look at its timers, in ms of processor time. */
const longMs = 10
const everyMs = 2
const worked = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6

let before = worked()
setInterval(() => {
  const now = worked()
  if (now - before > longMs) appendFileSync(process.env.MISUSE_LOOP_FILE, `${Date.now()} ${now - before}\n`)
  before = now
}, everyMs).unref()
