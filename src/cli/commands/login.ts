import type { Command } from 'commander'
import { UsageError } from '../../client/failure.ts'
import { createGatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { type Profile, profileName, readProfiles, writeProfiles } from '../../client/profile-file.ts'
import { readSecret } from '../../client/secret-input.ts'
import { plain } from '../../client/terminal-text.ts'
import { gatewayUrl } from '../options/gateway-address.ts'
import { isLoopback } from '../options/gateway-key.ts'
import { clientCommand, commonOptions } from '../run/client-command.ts'

/** The name of a profile for those who need only one. */
export const defaultProfile = 'default'

export function registerLogin(parent: Command, io: Io): void {
  clientCommand(parent, 'login', "keep a gateway's address and a key in a profile, for all later commands", [
    'rouse login                                        # asks for the key; the gateway is http://127.0.0.1:4520',
    'rouse login --url https://rouse.example --key-file donna.key',
    'rouse login --profile work --url https://rouse.example < donna.key',
  ]).action(async (_options: unknown, command: Command) => {
    const options = commonOptions(command)
    if (options.key !== undefined) {
      throw new UsageError('rouse login reads the key from standard input or --key-file, never from the command line.')
    }
    const name = profileName(options.profile ?? (io.env.ROUSE_PROFILE || defaultProfile))
    const { byName } = readProfiles(io)
    const url = gatewayUrl(options.url, io.env, byName.get(name)?.url)
    warnOfPlainText(io, url)
    const key = await readKey(options.keyFile, io)
    const project = options.project ?? (io.env.ROUSE_PROJECT || undefined)
    const identity = await whose({ url, key, project }, io)
    const profile = { url, key, identity, ...(project === undefined ? {} : { project }) }
    const path = writeProfiles({ current: name, byName: new Map([...byName, [name, profile]]) }, io.env)
    const print = createPrinter(io, options.json === true)
    const shown = { profile: name, url, identity, project: project ?? null, path }
    print.result(
      shown,
      () => `Logged in at ${url} as ${plain(identity)}. Commands use profile ${name} from now on (in ${path}).\n`,
    )
  })
}

async function readKey(keyFile: string | undefined, io: Io): Promise<string> {
  if (keyFile !== undefined) return readSecret(keyFile, '--key-file', io)
  if (io.askSecret === undefined) return readSecret('-', 'rouse login', io)
  const key = (await io.askSecret('Key: ')).trim()
  if (key === '' || /\s/.test(key)) throw new UsageError('That is not one key and nothing else.')
  return key
}

/** Asks the gateway whose key it is, and so checks both. Errors: `Refused`, `Unreachable`. */
async function whose({ url, key, project }: Omit<Profile, 'identity'>, io: Io): Promise<string> {
  const credentials = async () => ({ key, source: 'this login' })
  const gateway = createGatewayClient({ url, credentials, project, fetch: io.fetch, signal: io.signal })
  return (await gateway.call('GET /v1/whoami')).identity
}

function warnOfPlainText(io: Io, url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || isLoopback(hostname)) return
  io.stderr(`warning: without TLS everybody on the way to ${url} can read the key. Use https.\n`)
}
