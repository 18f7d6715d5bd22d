import { join } from 'node:path'
import {
  bridgeAddress,
  type Entry,
  hookSeconds,
  hooks,
  json,
  ownFile,
  server,
  serverEnv,
  serverWords,
  version,
} from '../entries.ts'
import type { HarnessFile, Install, Wanted } from '../harness.ts'
import { directoryOf, type Place } from '../places.ts'
import { extensionText } from './adapter/extension-text.ts'

const copilotEvents = ['sessionStart', 'userPromptSubmitted', 'agentStop', 'sessionEnd']

export const copilotHome = (place: Place): string => directoryOf(place, 'COPILOT_HOME', '.copilot')

export const copilotInstall: Install = {
  scopes: ['user'],
  http: false,
  bridgeWays: () => ['extension'],
  next: ['Sessions that run already do not have it: start a new one.'],
  files: (_scope, wanted) => {
    const directory = copilotHome(wanted.place)
    const entry: Entry = { type: 'local', ...serverWords(wanted), ...serverEnv(wanted, []), tools: ['*'] }
    const shell = wanted.place.platform === 'win32' ? 'powershell' : 'bash'
    const form = (command: string) => ({ type: 'command', [shell]: command, timeoutSec: hookSeconds })
    return [
      json(join(directory, 'mcp-config.json'), 'MCP server', [server(['mcpServers'], entry)]),
      json(join(directory, 'hooks/rouse.json'), 'hooks', [version, ...hooks('copilot', copilotEvents, wanted, form)]),
      ...(wanted.bridge === 'extension' ? copilotExtension(directory, wanted) : []),
    ]
  },
}

/** The extension that takes the wakes of the bridge in a session of Copilot CLI. */
function copilotExtension(directory: string, { place }: Wanted): HarnessFile[] {
  return [ownFile(join(directory, 'extensions/rouse/extension.mjs'), 'extension', extensionText(bridgeAddress(place)))]
}
