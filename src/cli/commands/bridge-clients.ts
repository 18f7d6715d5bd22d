import type { Command } from 'commander'
import { Reported } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { harnessOf } from '../../harnesses/harnesses.ts'
import { withExamples } from '../run/client-command.ts'

/** How a waiting hook signals that its harness is to start a turn. */
const wakes = 2

/**
 * `rouse bridge attach` and `rouse bridge wait`: what harnesses run, by their configuration, to take wakes from the bridge. They take
 * any options and arguments: a wrong command line ends with 2, and that starts a turn.
 */
export function registerBridgeClients(bridge: Command, io: Io): void {
  withExamples(
    bridge
      .command('attach [harness]', { hidden: true })
      .description('print each wake of a session as a line: a plugin monitor runs it'),
    ['rouse bridge attach claude'],
  )
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (harness: string | undefined) => {
      const signal = io.signal ?? new AbortController().signal
      const { inside } = harnessOf(harness ?? '') ?? {}
      await inside?.attach({ env: io.env, cwd: process.cwd(), print: printed, signal })
    })
  withExamples(
    bridge
      .command('wait [harness] [event]', { hidden: true })
      .description('wait for one wake of a session: a hook runs it'),
    ['rouse bridge wait claude Stop < event.json'],
  )
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (harness: string | undefined, event: string | undefined) => {
      if (await isWoken(io, harness, event)) throw new Reported(wakes)
    })
}

/** Never rejects: whatever goes wrong starts no turn. */
async function isWoken(io: Io, harness: string | undefined, event: string | undefined): Promise<boolean> {
  try {
    const { inside } = harnessOf(harness ?? '') ?? {}
    if (!inside) return false
    const { readInput } = await import('../hook/read-input.ts')
    const input = await readInput(io.input)
    const signal = io.signal ?? new AbortController().signal
    const show = ({ lines }: { lines: string }) => io.stderr(`This is a notice, not an error.\n${lines}\n`)
    return await inside.wait({ env: io.env, event: event ?? String(input.hook_event_name ?? ''), input, signal, show })
  } catch {
    return false
  }
}

/** A wake is reported to the bridge as printed when the pipe has it: not through `Io`, which does not report that. */
function printed(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(line, (error) => (error ? reject(error) : resolve()))
  })
}
