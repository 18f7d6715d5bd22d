import { type Command, Option } from 'commander'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { warnOfPassword } from '../../client/secret-input.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'

/** Each flag and its variable. Secrets have no flag: other users can read a command line. */
const flags = [
  ['--host <address>', 'ROUSE_HOST', 'the address to listen on (default: 127.0.0.1)'],
  ['--port <port>', 'ROUSE_PORT', 'the HTTP port; 0 = any free one (default: 4520)'],
  ['--grpc-port <port>', 'ROUSE_GRPC_PORT', 'the gRPC port; 0 = any free one, off = none (default: 4521)'],
  ['--public-url <url>', 'ROUSE_PUBLIC_URL', 'the address that agent cards advertise (default: where it listens)'],
  ['--grpc-public-target <target>', 'ROUSE_GRPC_PUBLIC_TARGET', 'the host:port that agent cards advertise for gRPC'],
  ['--tls-cert <file>', 'ROUSE_TLS_CERT', 'the PEM file of the certificate and its chain; HTTP and gRPC then use TLS'],
  ['--tls-key <file>', 'ROUSE_TLS_KEY', 'the PEM file of the key of the certificate'],
  [
    '--tls-client-ca <file>',
    'ROUSE_TLS_CLIENT_CA',
    'the PEM file of CAs; clients must present a certificate of one of them (default: none)',
  ],
  ['--data-dir <dir>', 'ROUSE_DATA_DIR', 'where the database and the generated keys are kept (default: ./.rouse)'],
  ['--database-url <url>', 'ROUSE_DATABASE_URL', 'postgres://… (default: SQLite in the data directory)'],
  ['--bus-url <url>', 'ROUSE_BUS_URL', 'redis://… for the messages between several gateways'],
  ['--webhook-allow <cidrs>', 'ROUSE_WEBHOOK_ALLOW', 'networks that webhooks may reach besides public addresses'],
  ['--session-timeout <seconds>', 'ROUSE_SESSION_TIMEOUT', 'how long a session may be silent (default: 300)'],
  ['--blocking-timeout <seconds>', 'ROUSE_BLOCKING_TIMEOUT', 'how long a blocking SendMessage waits (default: 55)'],
  ['--log-level <level>', 'ROUSE_LOG_LEVEL', 'silent, error, warn, info or debug (default: info)'],
  [
    '--jwt-issuers <issuers>',
    'ROUSE_JWT_ISSUERS',
    'issuers whose tokens are accepted beside keys: JSON, or the path of a JSON file',
  ],
] as const

export function registerServe(program: Command, io: Io): void {
  const command = program
    .command('serve')
    .description('start the gateway; Ctrl-C stops it, a second Ctrl-C stops it at once')
  for (const [flag, variable, text] of flags) command.addOption(new Option(flag, `${text} [$${variable}]`))
  command.addOption(jsonOption())
  withExamples(command, [
    'rouse serve',
    'rouse serve --port 8080 --data-dir /var/lib/rouse',
    'rouse serve --host 0.0.0.0 --public-url https://rouse.example',
  ])
    .addHelpText('after', `\n${secretsHelp}`)
    .action(async (options: Record<string, string | undefined>, command: Command) => {
      warnOfPassword(io, '--database-url', 'ROUSE_DATABASE_URL', options.databaseUrl)
      warnOfPassword(io, '--bus-url', 'ROUSE_BUS_URL', options.busUrl)
      const { serve } = await import('../operator/serve.ts')
      const print = createPrinter(io, commonOptions(command).json === true)
      await serve(io, { ...io.env, ...variablesOf(options, command) }, print)
    })
}

const secretsHelp = `Secrets are read from the environment: ROUSE_ADMIN_KEY, ROUSE_ENCRYPTION_KEY, and URLs with a password; or from the files that
ROUSE_ADMIN_KEY_FILE, ROUSE_ENCRYPTION_KEY_FILE, ROUSE_DATABASE_URL_FILE, ROUSE_BUS_URL_FILE and ROUSE_WEBHOOK_PROXY_FILE name.
If the two keys are not given, the first start makes them and stores them in the data directory.`

function variablesOf(options: Record<string, string | undefined>, command: Command): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const [flag, variable] of flags) {
    const name = command.options.find((option) => option.flags === flag)!.attributeName()
    const value = options[name]
    if (value !== undefined) variables[variable] = value
  }
  return variables
}
