import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second for its users. */
const ticksPerSecond = 100

/**
 * CPU seconds of a process, of its descendants, and of those of them that have ended and were waited for.
 * By parent and not by process group: a PostgreSQL backend makes a group of its own. NaN where there is no /proc.
 */
export function cpuSeconds(rootPid) {
  const processes = readProcesses()
  if (!processes.has(rootPid)) return Number.NaN
  let ticks = 0
  for (const [pid, { ticks: own }] of processes) if (descends(processes, pid, rootPid)) ticks += own
  return ticks / ticksPerSecond
}

/** Resident memory in MB: now, and the most there has been. */
export function residentMemory(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const megabytes = (field) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024
    return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
  } catch {
    return { now: Number.NaN, peak: Number.NaN }
  }
}

function readProcesses() {
  const processes = new Map()
  for (const pid of listPids()) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The name in parentheses may contain anything; after it come state, parent, … and, from the 12th field on, four times.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
      processes.set(pid, { parent: Number(fields[1]), ticks })
    } catch {
      // It ended between the listing and the reading.
    }
  }
  return processes
}

function listPids() {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

function descends(processes, pid, rootPid) {
  let current = pid
  for (let depth = 0; depth < 64 && current > 0; depth++) {
    if (current === rootPid) return true
    current = processes.get(current)?.parent ?? 0
  }
  return false
}
