import { readFileSync } from 'node:fs'

/** The most memory that a process has held, in MB. */
export function peakMb(pid: number): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}
