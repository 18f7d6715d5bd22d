import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { ownIds } from '../ids/own-ids.ts'
import { requireText } from '../options/text-input.ts'
import { asksState } from '../output/task-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { addressOf, deliver } from './send.ts'

interface AnswerOptions {
  file?: string
  wait?: true
}

/** `rouse answer`: the reply to a task that asks something. */
export function registerAnswer(parent: Command, io: Io): void {
  clientCommand(parent, 'answer <task> [text...]', 'answer what a task asks (rouse inbox shows which ask something)', [
    'rouse answer 94eeca73 "Use the main branch"',
    'rouse answer 94eeca73 "Use the main branch" --wait   # wait until it is finished or asks again',
  ])
    .option('--file <file>', 'the text from a file; - is standard input')
    .option('--wait', 'wait until the task is finished (exit code 0, or 4 without success) or asks something (5)')
    .action(async (given: string, words: string[], options: AnswerOptions, command: Command) => {
      const text = requireText(io, { words, file: options.file })
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).task(given)
      const task = await gateway.call('GET /v1/tasks/:id', { params: { id } })
      if (!asksState(task.state)) {
        throw new Error(`The task is ${task.state} and asks nothing. Add to it: rouse send --task ${plain(id)} "…"`)
      }
      const delivery = { ...addressOf(gateway, task.agent), taskId: id, text, options: { wait: options.wait } }
      await deliver({ gateway, print, signal: io.signal }, delivery)
    })
}
