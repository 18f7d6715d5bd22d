import { atFileEnd } from './ends.ts'

const tickMs = 10

let total = 0
let seenAt = 0
let seenCpu = process.cpuUsage()
let ticks: NodeJS.Timeout | undefined

/** The time that has passed since the last look. While this process did not run, only as much as a tick takes. */
function look(): void {
  const cpu = process.cpuUsage(seenCpu)
  const gap = performance.now() - seenAt
  total += Math.min(gap, 1.5 * tickMs + (cpu.user + cpu.system) / 1000)
  seenAt += gap
  seenCpu = process.cpuUsage()
}
/**
 * Milliseconds on a clock that stands still while the machine is busy with others. A test that something takes no longer than so
 * long measures with it, and proves the same on a machine that has no time for it. Only for upper bounds.
 */
export function servedMs(): number {
  if (ticks) look()
  else begin()
  return total
}

/** The clock runs until the file ends: a hundred looks a second would cost the files that measure nothing. */
function begin(): void {
  seenAt = performance.now()
  seenCpu = process.cpuUsage()
  ticks = setInterval(look, tickMs).unref()
  atFileEnd(() => {
    clearInterval(ticks)
    ticks = undefined
  })
}
