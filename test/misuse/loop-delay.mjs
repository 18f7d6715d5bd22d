import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Loaded before a gateway: on SIGUSR2 it writes how long its event loop worked without a look at its timers since the last time, in ms
 * of processor time, and begins again.
 */
const everyMs = 2
const schedstat = `/proc/self/task/${process.pid}/schedstat`
const worked = () => {
  try {
    return Number(readFileSync(schedstat, 'latin1').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}
let delays = []
let before = worked()
setInterval(() => {
  const now = worked()
  delays.push(now - before)
  before = now
}, everyMs).unref()

let count = 0
process.on('SIGUSR2', () => {
  const sorted = delays.sort((a, b) => a - b)
  const report = { count: ++count, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, max: sorted.at(-1) ?? 0 }
  writeFileSync(process.env.MISUSE_LOOP_DELAY_FILE, JSON.stringify(report))
  delays = []
})
