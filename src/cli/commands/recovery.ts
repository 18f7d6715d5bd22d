import type { Command } from 'commander'
import { exitCodes, Reported, UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { plain } from '../../client/terminal-text.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'

const lookMs = 1_000

/** `rouse recovery …`: harnesses that are started anew. */
export function registerRecovery(program: Command, io: Io): void {
  const recovery = program.command('recovery').description('restarts of the harnesses of agents')
  registerProve(recovery, io)
}

/** `rouse recovery prove`: the bridge of this machine starts a harness by its recipe, once. Exits with 1 where that does not work. */
function registerProve(recovery: Command, io: Io): void {
  const prove = recovery
    .command('prove <agent>')
    .description('start the harness of an agent once by the recipe of the bridge, and see whether it works')
  withExamples(prove, ['rouse recovery prove @donna'])
  prove.addOption(jsonOption()).action(async (agent: string, _options: unknown, command: Command) => {
    const { askProof } = await import('../../bridge/local/ask-bridge.ts')
    const print = createPrinter(io, commonOptions(command).json === true)
    let said = ''
    let found = await asked(askProof(io.env, agent))
    for (; found.state === 'running' && !io.signal?.aborted; found = await asked(askProof(io.env, agent, found.run))) {
      if (found.detail !== said) print.note(plain(found.detail))
      said = found.detail
      await sleep(systemClock, lookMs, io.signal)
    }
    const { state, detail } = found
    print.result(
      { agent, state, detail },
      () => `${agent}: ${state === 'running' ? 'not proven yet' : state}: ${plain(detail)}\n`,
    )
    if (state !== 'proven') throw new Reported(exitCodes.refused)
  })
}

async function asked<Answer>(asking: Promise<Answer | undefined>): Promise<Answer> {
  const answer = await asking
  if (answer) return answer
  throw new UsageError('No bridge of this user answers. Start it where the harness is to run: rouse bridge')
}
