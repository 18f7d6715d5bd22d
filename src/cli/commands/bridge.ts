import type { Command } from 'commander'
import { Reported } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter, type Printer } from '../../client/printer.ts'
import { bridgeText } from '../output/bridge-view.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'
import { bridgeConfigOption, registerBridgeAdd } from './bridge-add.ts'
import { registerBridgeClients } from './bridge-clients.ts'

interface ConfigOption {
  config?: string
}

/** `rouse bridge`: hands wakes to the conversations of harnesses on this machine. */
export function registerBridge(parent: Command, io: Io): void {
  const bridge = parent.command('bridge').description('hand wakes to the conversations of harnesses on this machine')
  withExamples(bridge, [
    'rouse bridge init               # write a first configuration',
    'rouse bridge add @erik claude   # add another agent',
    'rouse bridge                    # run it in this terminal',
    'rouse bridge status             # what it does, and what it waits for',
  ])
  addOptions(bridge)
    .addHelpText('after', `\n${help}`)
    .option('--log-file <file>', 'print to a file instead, which becomes <file>.1 at 1 MiB')
    .action(async ({ config, logFile }: ConfigOption & { logFile?: string }, command: Command) => {
      const { startBridge } = await import('../../bridge/run/start-bridge.ts')
      const { adapters } = await import('../../harnesses/adapters.ts')
      if (logFile === undefined) return startBridge(io, config, adapters, printerOf(io, command))
      const { withLogFile } = await import('../service/log-file.ts')
      await withLogFile(io, logFile, (logged) => startBridge(logged, config, adapters, printerOf(logged, command)))
    })

  registerBridgeClients(bridge, io)
  registerBridgeAcp(bridge, io)
  registerBridgeAdd(bridge, io)

  const status = bridge.command('status').description('show the agents, the conversations, and the wakes that are held')
  withExamples(status, ['rouse bridge status', 'rouse bridge status --json'])
  addOptions(status).action(async (_options: unknown, command: Command) => {
    const { readStatus } = await import('../../bridge/run/read-status.ts')
    const { adapters } = await import('../../harnesses/adapters.ts')
    const found = await readStatus(io, configOf(command), adapters)
    printerOf(io, command).result(found, () => bridgeText(io, found))
  })

  const init = bridge
    .command('init')
    .description('write a first configuration: the agents of your profiles, the harnesses here, this directory')
  withExamples(init, ['rouse bridge init', 'rouse bridge init --directory ~/src/app'])
  addOptions(init)
    .option('--directory <directory>', 'the directory whose conversations may be woken', '.')
    .option('--approvals', 'a person may answer from elsewhere what the harnesses ask their user (docs/approvals.md)')
    .action(async (options: { directory: string; approvals?: true }, command: Command) => {
      const { initBridge } = await import('../../bridge/run/init-bridge.ts')
      const { adapters } = await import('../../harnesses/adapters.ts')
      const { path, config } = await initBridge(io, configOf(command), options, adapters)
      const agents = config.agents.map(({ profile, harnesses }) => `  ${profile}: ${harnesses.join(', ')}\n`).join('')
      const text = () => `Wrote ${path}. Look at it, and start the bridge with: rouse bridge\n${agents}`
      printerOf(io, command).result({ path, ...config }, text)
    })
}

function addOptions(command: Command): Command {
  return command.option(...bridgeConfigOption).addOption(jsonOption())
}

/** The option of the command itself, or of `rouse bridge` before its name. */
function configOf(command: Command): string | undefined {
  return command.opts<ConfigOption>().config ?? command.parent?.opts<ConfigOption>().config
}

function printerOf(io: Io, command: Command): Printer {
  return createPrinter(io, commonOptions(command).json === true || command.parent?.opts().json === true)
}

const help = `The configuration names the agents (profiles of rouse login), and for each the harnesses and the directories whose conversations its
wakes may go to. Nothing else is woken. Each user of a machine runs one bridge at most.`

/** `rouse bridge acp -- <agent>`: what an editor starts in place of its agent, so that the bridge can wake it. */
function registerBridgeAcp(bridge: Command, io: Io): void {
  const acp = bridge
    .command('acp <command...>')
    .description('stand between an editor and its agent (Agent Client Protocol), and take wakes for its sessions')
  withExamples(acp, [
    'rouse bridge acp -- gemini --acp',
    'rouse bridge acp -- npx @agentclientprotocol/claude-agent-acp',
  ]).action(async (command: string[]) => {
    const { runAcpProxy } = await import('../../harnesses/generic/acp/acp-proxy.ts')
    // The bytes of both sides, which `Io` has as texts.
    const code = await runAcpProxy({
      command,
      env: io.env,
      input: process.stdin,
      output: process.stdout,
      signal: io.signal,
    })
    if (code !== 0) throw new Reported(code)
  })
}
