import type { Command } from 'commander'
import { exitCodes, Reported } from '../../client/failure.ts'
import { bareHandle } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { integer } from '../options/option-values.ts'
import { wakeTestText } from '../output/wake-test-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { isReached, type MessageEvidence } from '../wake-test/evidence.ts'
import { runWakeTest } from '../wake-test/run-wake-test.ts'

/** `rouse wake …`: whether an agent is woken. */
export function registerWake(program: Command, io: Io): void {
  const wake = program.command('wake').description('find out whether an agent is woken, and by what')
  clientCommand(wake, 'test <agent>', 'send a test message that wakes, and show what each route has proved', [
    'rouse wake test @donna',
    'rouse wake test @donna --wait 120     # wait until the agent itself has acknowledged it',
  ])
    .option('--wait <seconds>', 'how long to wait for the acknowledgement of the agent', integer(0, 3_600), 5)
    .action(async (agent: string, { wait }: { wait: number }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const noteProof = ({ receipt, afterMs }: MessageEvidence) =>
        print.note(
          `${receipt}${afterMs === null ? '' : ` after ${afterMs} ms`}${receipt === 'accepted' ? `; waits for up to ${wait} s` : ''}`,
        )
      const options = { handle: bareHandle(agent), waitMs: wait * 1_000, signal: io.signal, noteProof }
      const test = await runWakeTest(gateway, options)
      print.result(test, () => wakeTestText(io, test))
      if (!isReached(test.message, test.routes)) throw new Reported(exitCodes.unsuccessful)
    })
}
