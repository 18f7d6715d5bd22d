import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const has = (tool: string): boolean => spawnSync(tool, ['-V']).status === 0
/** Only on a machine that does nothing else: processes that go first starve all others. It takes rights that not every user has. */
const hasTurns = process.env.ROUSE_MISUSE_REALTIME === '1'
/** Before this process keeps to some of them. */
const processors = availableParallelism()
const hasPlaces = processors > 1 && has('taskset')

/** What is done so that the processes of a run do not take processor time from each other. */
export const separation = [
  hasPlaces ? 'the gateway on a processor of its own' : 'on shared processors',
  hasTurns ? 'it and the others in real time' : 'in ordinary turns',
].join(', ')

/**
 * Gives the gateway the last processor, and the others the rest, to which the attacker has to keep as well. With
 * `ROUSE_MISUSE_REALTIME=1` the gateway and the others run before whatever else the machine does.
 */
export function separate(gatewayPid: number): void {
  if (hasPlaces) {
    const last = processors - 1
    run('taskset', '-acp', last === 1 ? '0' : `0-${last - 1}`, String(process.pid))
    run('taskset', '-acp', `${last}`, String(gatewayPid))
  }
  if (!hasTurns) return
  goFirst(gatewayPid)
  // What this process starts is the attacker: it waits its turn.
  goFirst(process.pid, '--reset-on-fork')
}

/** The main thread before its helpers: among equals, the collector of garbage would keep it from the processor for its whole turn. */
function goFirst(pid: number, ...flags: string[]): void {
  run('chrt', '--all-tasks', ...flags, '--rr', '--pid', '9', String(pid))
  run('chrt', ...flags, '--rr', '--pid', '10', String(pid))
}

function run(tool: string, ...argv: string[]): void {
  const { status, stderr } = spawnSync(tool, argv, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${tool} ${argv.join(' ')}: ${stderr}`)
}
