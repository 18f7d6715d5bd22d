import type { Command } from 'commander'
import { Refused } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { quickFetch } from '../../client/quick-fetch.ts'
import { plain } from '../../client/terminal-text.ts'
import { harnessProcess } from '../../harnesses/harness-process.ts'
import { harnesses, harnessOf, saidIn } from '../../harnesses/harnesses.ts'
import { approvalPartOf } from '../../harnesses/hooks.ts'
import { within } from '../../lib/within.ts'
import { readInput } from '../hook/read-input.ts'
import { type Hook, runHook } from '../hook/run-hook.ts'
import { tellBridge } from '../hook/tell-bridge.ts'
import { clientCommand, connect } from '../run/client-command.ts'

/** The longest time for the whole command, because the turn of the harness waits for it. */
const hookMaxMs = 2_000

interface HookOptions {
  readonly approvals?: true
  readonly parent?: string
}

/** `rouse hook …`: what a harness runs at its events. It never fails: a harness could then refuse the prompt of its user. */
export function registerHook(program: Command, io: Io): void {
  const names = harnesses.flatMap(({ id, hooks }) => (hooks ? [id] : [])).join(', ')
  clientCommand(program, 'hook [harness] [event]', 'report an event of a harness, and tell its model what mail waits', [
    'rouse hook claude UserPromptSubmit < event.json   # a harness runs this, by its configuration',
    'rouse hook codex Stop',
  ])
    .option('--approvals', 'what the harness asks its user is held for a person elsewhere, and their answer is printed')
    .option('--parent <pid>', 'the process that has started the shell of the hook, where the shell has ended')
    .addHelpText('after', `\nHarnesses: ${names}. Standard input is the JSON that the harness gives to its hooks.`)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (harness: string | undefined, event: string | undefined, options: HookOptions, command: Command) => {
      const stopped = io.signal ?? new AbortController().signal
      using late = within(hookMaxMs, stopped)
      const input = await readInput(io.input)
      const hook: Hook = {
        harness: harnessOf(harness ?? ''),
        event: event ?? String(input.hook_event_name ?? ''),
        input,
        process: harnessProcess(
          saidIn(io.env, 'pid').map(({ value }) => value),
          Number(options.parent) || process.ppid,
        ),
        env: io.env,
      }
      const gatewayOf = (signal: AbortSignal, count: (waiting: number) => void = () => {}): GatewayClient =>
        connect({ ...io, fetch: io.fetch ?? quickFetch, signal }, command, count).gateway
      const report = async (reported: Hook, signal: AbortSignal): Promise<void> => {
        const telling = tellBridge(reported)
        await quietly(io, signal, async () => {
          let waiting = 0
          const gateway = gatewayOf(signal, (count) => (waiting = count))
          const output = await runHook(reported, { gateway, waiting: () => waiting })
          if (output) io.stdout(`${JSON.stringify(output)}\n`)
        })
        await telling
      }
      const { hooks } = hook.harness ?? {}
      const part =
        hooks && options.approvals && !hooks.isUnattended?.(io.env) ? approvalPartOf(hooks, hook.event) : undefined
      if (part === undefined) return await report(hook, late.signal)
      const { holdRequest, settleRequests } = await import('../hook/approvals.ts')
      const goOn = async () => {
        using soon = within(hookMaxMs, stopped)
        await report({ ...hook, event: 'PostToolUse' }, soon.signal)
      }
      const settle = async (settled: 'one' | 'all') => {
        const closed = await settleRequests(hook, settled, gatewayOf(late.signal))
        if (closed > 0 && settled === 'one') await goOn()
      }
      const hold = () =>
        holdRequest(hook, gatewayOf(stopped), stopped, async (output) => {
          io.stdout(`${JSON.stringify(output)}\n`)
          await goOn()
        })
      // The end of a step is reported in the background, and may come after the end of its turn: it is no news but after a dialog.
      const reporting = part === 'one' ? undefined : report(hook, late.signal)
      if (part === 'asks') await reporting
      await quietly(io, late.signal, () => (part === 'asks' ? hold() : settle(part)))
      await reporting
    })
}

/** Does work. What goes wrong is a line for its user. */
async function quietly(io: Io, late: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const isLate = late.aborted && error === late.reason
    io.stderr(`rouse hook: ${plain(isLate ? `no answer within ${hookMaxMs / 1000} s` : reasonOf(error))}\n`)
  }
}

/** One line. */
function reasonOf(error: unknown): string {
  if (error instanceof Refused) return error.explanation
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!
}
