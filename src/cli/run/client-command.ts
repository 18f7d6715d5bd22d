import { type Command, type CommandOptions, Option } from 'commander'
import { createGatewayClient, type GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter, type Printer } from '../../client/printer.ts'
import { readProfiles } from '../../client/profile-file.ts'
import { warnOfFlag } from '../../client/secret-input.ts'
import { type AccessOptions, chooseAccess } from '../options/choose-access.ts'
import { gatewayCredentials } from '../options/gateway-key.ts'

/** A command that talks to a running gateway: it has `--url`, `--key` and `--json`. */
export function clientCommand(
  parent: Command,
  usage: string,
  summary: string,
  examples: readonly string[],
  options: CommandOptions = {},
): Command {
  const command = parent.command(usage, options).description(summary)
  addClientOptions(command)
  return withExamples(command, examples)
}

export function addClientOptions(command: Command): Command {
  return command
    .addOption(
      common('--url <url>', "the gateway (default: $ROUSE_URL, else the profile's, else http://127.0.0.1:4520)"),
    )
    .addOption(
      common(
        '--key-file <file>',
        "a file with the bearer key; - is standard input (default: $ROUSE_KEY, else $ROUSE_KEY_FILE, else the profile's, else the data directory's admin.key)",
      ),
    )
    .addOption(common('--key <key>', 'the bearer key itself, which every user of this machine can see').hideHelp())
    .addOption(common('--profile <name>', 'a profile of rouse login (default: $ROUSE_PROFILE, else the one in use)'))
    .addOption(common('--project <project>', "another project, with the operator's key (default: $ROUSE_PROJECT)"))
    .addOption(jsonOption())
}

export function jsonOption(): Option {
  return common('--json', 'print JSON for programs instead of text for people')
}

function common(flags: string, description: string): Option {
  return new Option(flags, description).helpGroup('Common options:')
}

export function withExamples(command: Command, examples: readonly string[]): Command {
  if (examples.length === 0) return command
  const title = examples.length === 1 ? 'Example' : 'Examples'
  return command.addHelpText('after', `\n${title}:\n${examples.map((example) => `  $ ${example}`).join('\n')}`)
}

/** The gateway and the printer for the action of a client command. `countMail` gets the number of messages that wait, instead of the printer. */
export function connect(
  io: Io,
  command: Command,
  countMail?: (count: number) => void,
): { gateway: GatewayClient; print: Printer } {
  const options = commonOptions(command)
  const access = chooseAccess(options, io.env, readProfiles(io))
  const { url, project } = access
  if (options.key !== undefined) warnOfFlag(io, '--key', '--key-file, ROUSE_KEY_FILE or ROUSE_KEY')
  const credentials = () => gatewayCredentials(options, io, access)
  const print = createPrinter(io, options.json === true)
  const onWaitingMail = countMail ?? print.mail
  return {
    gateway: createGatewayClient({
      url,
      credentials,
      project,
      traceparent: io.env.TRACEPARENT,
      fetch: io.fetch,
      signal: io.signal,
      onWaitingMail,
    }),
    print,
  }
}

interface CommonOptions extends AccessOptions {
  json?: boolean
}

/** The common options, given before or after the command's name. */
export function commonOptions(command: Command): CommonOptions {
  let root = command
  while (root.parent) root = root.parent
  return { ...root.opts(), ...command.opts() }
}
