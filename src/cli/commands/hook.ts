import type { Command } from 'commander'
import { Refused } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { quickFetch } from '../../client/quick-fetch.ts'
import { plain } from '../../client/terminal-text.ts'
import { harnessProcess } from '../../harnesses/harness-process.ts'
import { harnesses, harnessOf, saidIn } from '../../harnesses/harnesses.ts'
import { within } from '../../lib/within.ts'
import { readInput } from '../hook/read-input.ts'
import { runHook } from '../hook/run-hook.ts'
import { tellBridge } from '../hook/tell-bridge.ts'
import { clientCommand, connect } from '../run/client-command.ts'

/** The longest time for the whole command, because the turn of the harness waits for it. */
const hookMaxMs = 2_000

/** `rouse hook …`: what a harness runs at its events. It never fails: a harness could then refuse the prompt of its user. */
export function registerHook(program: Command, io: Io): void {
  const names = harnesses.flatMap(({ id, hooks }) => (hooks ? [id] : [])).join(', ')
  clientCommand(program, 'hook [harness] [event]', 'report an event of a harness, and tell its model what mail waits', [
    'rouse hook claude UserPromptSubmit < event.json   # a harness runs this, by its configuration',
    'rouse hook codex Stop',
  ])
    .addHelpText('after', `\nHarnesses: ${names}. Standard input is the JSON that the harness gives to its hooks.`)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (harness: string | undefined, event: string | undefined, _options: unknown, command: Command) => {
      using late = within(hookMaxMs, ...(io.signal ? [io.signal] : []))
      const { signal } = late
      const input = await readInput(io.input)
      const hook = {
        harness: harnessOf(harness ?? ''),
        event: event ?? String(input.hook_event_name ?? ''),
        input,
        process: harnessProcess(
          saidIn(io.env, 'pid').map(({ value }) => value),
          process.ppid,
        ),
        env: io.env,
      }
      const reporting = tellBridge(hook)
      try {
        let waiting = 0
        const { gateway } = connect(
          { ...io, fetch: io.fetch ?? quickFetch, signal },
          command,
          (count) => (waiting = count),
        )
        const output = await runHook(hook, { gateway, waiting: () => waiting })
        if (output) io.stdout(`${JSON.stringify(output)}\n`)
      } catch (error) {
        const reason = signal.aborted ? `no answer within ${hookMaxMs / 1000} s` : reasonOf(error)
        io.stderr(`rouse hook: ${plain(reason)}\n`)
      }
      await reporting
    })
}

/** One line. */
function reasonOf(error: unknown): string {
  if (error instanceof Refused) return error.explanation
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!
}
