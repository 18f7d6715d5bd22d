const tickMs = 10

let total = 0
let seenAt = performance.now()
let seenCpu = process.cpuUsage()

/** What has passed since the last look. While this process got no turn and did no work, only as much as a tick takes. */
function look(): void {
  const cpu = process.cpuUsage(seenCpu)
  const gap = performance.now() - seenAt
  total += Math.min(gap, 1.5 * tickMs + (cpu.user + cpu.system) / 1000)
  seenAt += gap
  seenCpu = process.cpuUsage()
}
setInterval(look, tickMs).unref()

/**
 * Milliseconds on a clock that stands still while the machine is busy with others. A test that something takes no longer than so
 * long measures with it, and proves the same on a machine that has no time for it. Only for upper bounds.
 */
export function servedMs(): number {
  look()
  return total
}
