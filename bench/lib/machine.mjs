import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { makeDirectory, removeDirectory } from './processes.mjs'
import { quantile } from './stats.mjs'

/** One line of Markdown on what the numbers below were taken on, and how busy it was at that moment. */
export function describeMachine() {
  const { p50, p99 } = measureSync()
  const facts = [
    `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown CPU'}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `Node ${process.versions.node}`,
    `${process.platform} ${release()}`,
    `fdatasync of 4 KiB p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
    `load ${loadavg()[0].toFixed(2)} at the start`,
    new Date().toISOString().slice(0, 10),
  ]
  return `Machine: ${facts.join(' · ')}`
}

/** The share of the machine that others use, from 0 to 1, over a moment in which this process rests. NaN where there is no /proc. */
export async function busyShare(overMs = 500) {
  const before = readTotals()
  await new Promise((resolve) => setTimeout(resolve, overMs))
  const after = readTotals()
  return before && after ? 1 - (after.idle - before.idle) / (after.all - before.all) : Number.NaN
}

function readTotals() {
  try {
    const fields = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/\s+/).slice(1, 9).map(Number)
    return { idle: fields[3] + fields[4], all: fields.reduce((sum, field) => sum + field, 0) }
  } catch {
    return undefined
  }
}

/** The lowest cost of a durable commit on the disk of the stores. */
function measureSync() {
  const directory = makeDirectory('sync')
  const file = openSync(join(directory, 'file'), 'w')
  const page = Buffer.alloc(4096, 1)
  const times = []
  for (let i = 0; i < 220; i++) {
    const startedAt = performance.now()
    writeSync(file, page)
    fdatasyncSync(file)
    if (i >= 20) times.push(performance.now() - startedAt)
  }
  closeSync(file)
  removeDirectory(directory)
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}
