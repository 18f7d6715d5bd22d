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
import type { EntryChoices, Harness, HarnessFile, Install } from '../harness.ts'
import { ends, noticed, rests, starts, works } from '../hooks.ts'
import { directoryOf, type Place } from '../places.ts'
import { extensionText } from './adapter/extension-text.ts'

const copilotEvents = ['sessionStart', 'userPromptSubmitted', 'agentStop', 'sessionEnd']

const copilotHome = (place: Place): string => directoryOf(place, 'COPILOT_HOME', '.copilot')

const copilotInstall: Install = {
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

export const copilot: Harness = {
  id: 'copilot',
  title: 'Copilot CLI',
  binary: 'copilot',
  surface: 'copilot',
  variables: { home: 'COPILOT_HOME' },
  home: copilotHome,
  install: copilotInstall,
  hooks: {
    acts: {
      sessionstart: starts,
      userpromptsubmitted: works,
      agentstop: rests,
      notification: noticed,
      sessionend: ends,
    },
    prompt: 'userpromptsubmitted',
    contextOutput: (_event, text) => ({ additionalContext: text }),
  },
  adapter: async () => (await import('./adapter/copilot-adapter.ts')).copilotRow,
}

/** The extension that takes the wakes of the bridge in a session of Copilot CLI. */
function copilotExtension(directory: string, { place }: EntryChoices): HarnessFile[] {
  return [ownFile(join(directory, 'extensions/rouse/extension.mjs'), 'extension', extensionText(bridgeAddress(place)))]
}
