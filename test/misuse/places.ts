import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** Before this process keeps to some of them. */
const processors = availableParallelism()
const hasPlaces = processors > 1 && spawnSync('taskset', ['-V']).status === 0
const hasIdlePolicy = spawnSync('chrt', ['-V']).status === 0

/** What is done so that the processes of a run do not take processor time from each other. */
export const separation = hasPlaces ? 'the gateway on a processor of its own' : 'on shared processors'

/** The threads that V8 starts right after the main thread: one for delays, four that compile and collect garbage. */
const v8Threads = 5

/**
 * Gives the gateway the last processor, and the other processes the rest, to which the attacker has to keep as well. The threads of V8 get any
 * processor, but only while nobody else wants it: with the rights of the main thread a longer collection would stop it for a tenth of a
 * second. With its processor alone they would never run while it waits for them without sleeping, as it does when it frees large buffers.
 */
export function separate(gatewayPid: number): void {
  if (!hasPlaces) return
  const last = processors - 1
  run('taskset', '-acp', last === 1 ? '0' : `0-${last - 1}`, String(process.pid))
  run('taskset', '-acp', `${last}`, String(gatewayPid))
  if (!hasIdlePolicy) return
  const threads = readdirSync(`/proc/${gatewayPid}/task`).map(Number)
  const ofV8 = threads.sort((one, other) => one - other).slice(1, 1 + v8Threads)
  for (const thread of ofV8) {
    run('chrt', '-i', '-p', '0', String(thread))
    run('taskset', '-cp', `0-${last}`, String(thread))
  }
}

/**
 * Gives a database server that runs on this machine the processors of the others, before anybody else who wants them: as on a machine of
 * its own, with as many processors, it waits for nobody but itself.
 * @param backendPid of one of its connections
 */
export function separateServer(backendPid: number): void {
  const server = parentOf(backendPid)
  if (!hasPlaces || server === undefined) return
  const last = processors - 1
  const ofServer = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid === server || parentOf(pid) === server)
  for (const pid of ofServer) {
    run('taskset', '-cp', last === 1 ? '0' : `0-${last - 1}`, String(pid))
    run('renice', '-n', '-20', '-p', String(pid))
  }
}

/** The parent of a process of PostgreSQL; undefined: there is no such process here. */
function parentOf(pid: number): number | undefined {
  try {
    const [, name, parent] = /\((.*)\) \S+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))!
    return name === 'postgres' ? Number(parent) : undefined
  } catch {
    return undefined
  }
}

/** The words that start an attacker: with `chrt` it gets a processor only while nobody else wants it. */
export const attackerWords: readonly string[] = hasIdlePolicy ? ['chrt', '-i', '0'] : []

function run(tool: string, ...argv: string[]): void {
  const { status, stderr } = spawnSync(tool, argv, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${tool} ${argv.join(' ')}: ${stderr}`)
}
