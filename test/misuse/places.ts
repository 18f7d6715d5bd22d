import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Before this process keeps to some of them. */
const processors = availableParallelism()
const hasPlaces = processors > 1 && spawnSync('taskset', ['-V']).status === 0

/** What is done so that the processes of a run do not take processor time from each other. */
export const separation = hasPlaces ? 'the gateway on a processor of its own' : 'on shared processors'

/** Gives the gateway the last processor, and the others the rest, to which the attacker has to keep as well. */
export function separate(gatewayPid: number): void {
  if (!hasPlaces) return
  const last = processors - 1
  run('taskset', '-acp', last === 1 ? '0' : `0-${last - 1}`, String(process.pid))
  run('taskset', '-acp', `${last}`, String(gatewayPid))
}

function run(tool: string, ...argv: string[]): void {
  const { status, stderr } = spawnSync(tool, argv, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${tool} ${argv.join(' ')}: ${stderr}`)
}
