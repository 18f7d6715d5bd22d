import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { integer } from '../options/option-values.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'

export function registerDemo(program: Command, io: Io): void {
  const command = program
    .command('demo')
    .description('a demonstration: a temporary gateway, two agents, one wake')
    .option('--port <port>', 'where the demo listens (default: any free port)', integer(0, 65_535))
    .option('--exit', 'end after the demo instead of running until Ctrl-C')
    .addOption(jsonOption())
  withExamples(command, ['rouse demo', 'rouse demo --exit']).action(
    async (options: { port?: number; exit?: true }, command: Command) => {
      const { runDemo } = await import('../operator/demo/run-demo.ts')
      const json = commonOptions(command).json === true
      const print = (text: string) => io.stdout(json ? `${JSON.stringify({ text })}\n` : `${text}\n`)
      const story = { print, port: options.port, exit: options.exit === true, signal: io.signal }
      await runDemo(story)
    },
  )
}
