import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const periodUs = 4_000
const made = new Set()
process.on('exit', () => {
  for (const path of made) remove(path)
})

/** Limits a process to a share of a core (Linux control groups, as root), as if it had its own machine. */
export function confine(pid, share) {
  const v2 = existsSync('/sys/fs/cgroup/cgroup.controllers')
  const path = join(v2 ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu', `rouse-bench-${pid}`)
  mkdirSync(path)
  made.add(path)
  const quotaUs = Math.round(share * periodUs)
  if (v2) writeFileSync(join(path, 'cpu.max'), `${quotaUs} ${periodUs}`)
  else {
    writeFileSync(join(path, 'cpu.cfs_period_us'), String(periodUs))
    writeFileSync(join(path, 'cpu.cfs_quota_us'), String(quotaUs))
  }
  writeFileSync(join(path, 'cgroup.procs'), String(pid))
}

/** A group can be removed when it has no process. */
function remove(path) {
  try {
    rmdirSync(path)
  } catch {
    // Its process is still on its way out; an empty group costs nothing.
  }
}
