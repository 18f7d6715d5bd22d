import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Before this process keeps to some of them. */
const processors = availableParallelism()
const hasPlaces = processors > 1 && spawnSync('taskset', ['-V']).status === 0

/** What is done so that the processes of a run do not take processor time from each other. */
export const separation = hasPlaces ? "the gateway's main thread on a processor of its own" : 'on shared processors'

/**
 * Gives the main thread of the gateway the last processor, and the other processes the rest, to which the attacker has to keep as well. The
 * gateway's other threads, which collect garbage, compile and write to the disk, run where there is room, as anywhere: kept to the processor of
 * the main thread, they take turns with it, and stop it for a tenth of a second in each longer collection.
 */
export function separate(gatewayPid: number): void {
  if (!hasPlaces) return
  const last = processors - 1
  const rest = last === 1 ? '0' : `0-${last - 1}`
  run('taskset', '-acp', rest, String(process.pid))
  run('taskset', '-acp', `0-${last}`, String(gatewayPid))
  run('taskset', '-cp', `${last}`, String(gatewayPid))
}

/**
 * The words that start an attacker: with `chrt` it gets a processor only while nobody else wants it, and the scheduler takes one with nothing
 * but an attacker for a free one. Beside a process that is merely nice it puts the gateway's other threads on the processor of the main thread.
 */
export const attackerWords: readonly string[] = spawnSync('chrt', ['-V']).status === 0 ? ['chrt', '-i', '0'] : []

function run(tool: string, ...argv: string[]): void {
  const { status, stderr } = spawnSync(tool, argv, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${tool} ${argv.join(' ')}: ${stderr}`)
}
