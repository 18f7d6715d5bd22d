import { createTwoFilesPatch } from 'diff'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import { harnesses } from '../../harnesses/harnesses.ts'
import type { Place } from '../../harnesses/places.ts'
import { isTemporary, launchOf } from '../install/launch.ts'
import { installService, plannedService, type ServiceResult, uninstallService } from './install-service.ts'
import { bridgeService, type Service } from './services.ts'

/** Variables that say where programs and their files are. A service manager starts programs without them; none of them is a secret. */
const passedOn = [
  'PATH',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_DATA_HOME',
  ...harnesses.flatMap(({ variables }) => variables?.home ?? []),
  'ROUSE_BRIDGE_CONFIG',
  'TMUX_TMPDIR',
  'NODE_EXTRA_CA_CERTS',
]

/** The service that runs `rouse bridge` for this user. Errors: `UsageError` on a system without one that Rouse knows. */
function ownBridgeService(place: Place): Service {
  const { command, args } = launchOf('user')
  const env = Object.fromEntries(passedOn.flatMap((name) => (place.env[name] ? [[name, place.env[name]]] : [])))
  return bridgeService(place, { words: [command, ...args, 'bridge'], env })
}

/** Writes the service of the bridge and starts it; with `dryRun` prints what would be written and run. */
export async function installBridge(io: Io, print: Printer, dryRun: boolean): Promise<void> {
  const service = ownBridgeService(here(io))
  if (dryRun) return printPlan(io, print, service)
  const result = await installService(io, service)
  const notes = [
    ...result.notes,
    ...(result.told ? [] : [notStarted]),
    ...(isTemporary(launchOf('user')) ? [temporary] : []),
    'rouse doctor says whether it works.',
  ]
  print.result({ service: { ...result, notes } }, () => resultText(io, { ...result, notes }))
}

/** Stops the service of the bridge and removes it; with `dryRun` prints what would be removed and run. */
export async function uninstallBridge(io: Io, print: Printer, dryRun: boolean): Promise<void> {
  const service = ownBridgeService(here(io))
  if (dryRun) {
    const { before } = plannedService(io, service)
    if (before === undefined) return print.note('Nothing would change.')
    io.stdout(patch(service.path, before, undefined))
    return printCommands(print, [...service.stop, ...service.after])
  }
  const result = await uninstallService(io, service)
  print.result({ service: result }, () => resultText(io, result))
}

const notStarted = 'No bridge was started. Until it is, one runs in a terminal: rouse bridge'
const temporary = 'npx removes this program some day: install it, and run this again.'

function printPlan(io: Io, print: Printer, service: Service): void {
  const { before, after } = plannedService(io, service)
  if (before === after) print.note('The file would stay as it is.')
  else io.stdout(patch(service.path, before, after))
  printCommands(print, service.start)
}

function printCommands(print: Printer, commands: readonly (readonly string[])[]): void {
  for (const words of commands) print.note(`It would run: ${words.join(' ')}`)
}

/** As `patch` and `git apply` read it. */
function patch(path: string, before: string | undefined, after: string | undefined): string {
  const [from, to] = [before === undefined ? '/dev/null' : path, after === undefined ? '/dev/null' : path]
  return createTwoFilesPatch(from, to, before ?? '', after ?? '', '', '').replace(/^=+\n/, '')
}

function resultText(io: Io, { manager, path, action, notes }: ServiceResult): string {
  const words = { written: 'written', unchanged: 'as it was', removed: 'removed' } as const
  const lines = [`  ${words[action].padEnd(9)}  ${plain(path)}`, ...notes.map((note) => `  ${plain(note)}`)]
  return `${paint(io, 'bold', `The bridge as a service (${manager})`)}\n${lines.join('\n')}\n`
}

function here({ env }: Io): Place {
  return { env, platform: process.platform, cwd: process.cwd() }
}
