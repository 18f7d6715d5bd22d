import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Scope } from '../../config-files/record.ts'
import { bearer, bridgeAddress, type Entry, json, keyVariable, ownFile, server, serverWords } from '../entries.ts'
import type { EntryChoices, Harness, HarnessFile, Install } from '../harness.ts'
import { type Place, xdgConfig } from '../places.ts'
import { pluginText } from './adapter/plugin/plugin-text.ts'
import { opencodeLimit } from './limit.ts'

const opencodeInstall: Install = {
  scopes: ['user', 'project'],
  http: true,
  approvals: 'bridge',
  bridgeWays: (scope) => (scope === 'user' ? ['plugin'] : []),
  bridgeNext: [
    'Start OpenCode anew: it loads the plugin then. With its first plugin it installs a package of its own from npm, so that start takes 10 to 40 s more.',
  ],
  next: ['OpenCode has no hooks: mail comes with the answers of our tools, and a running session is not notified.'],
  files: (scope, wanted) => {
    const [command, args] = [serverWords(wanted).command, serverWords(wanted).args]
    const entry: Entry = wanted.url
      ? { type: 'remote', url: wanted.url, headers: bearer(`{env:${keyVariable}}`), enabled: true }
      : { type: 'local', command: [command, ...args], enabled: true }
    const mcp = json(opencodeFile(scope, wanted.place), 'MCP server', [server(['mcp'], entry)])
    return wanted.bridge === undefined ? [mcp] : [mcp, ...opencodePlugin(opencodeHome(wanted.place), wanted)]
  },
}

export const opencode: Harness = {
  id: 'opencode',
  title: 'OpenCode',
  binary: 'opencode',
  surface: 'opencode',
  variables: { mark: 'OPENCODE', pid: 'OPENCODE_PID' },
  home: (place) => join(xdgConfig(place), 'opencode'),
  install: opencodeInstall,
  limitIn: opencodeLimit,
  adapter: async () => (await import('./adapter/opencode-adapter.ts')).opencodeRow,
}

function opencodeHome(place: Place): string {
  return place.env.OPENCODE_CONFIG_DIR || join(xdgConfig(place), 'opencode')
}

/** The file that is there; OpenCode reads both names. */
function opencodeFile(scope: Scope, place: Place): string {
  if (scope === 'user' && place.env.OPENCODE_CONFIG) return place.env.OPENCODE_CONFIG
  const directory = scope === 'project' ? place.cwd : opencodeHome(place)
  const withComments = join(directory, 'opencode.jsonc')
  return existsSync(withComments) ? withComments : join(directory, 'opencode.json')
}

/** The plugin of OpenCode, which loads every `.js` of that folder. */
function opencodePlugin(directory: string, { place }: EntryChoices): HarnessFile[] {
  return [ownFile(join(directory, 'plugins/rouse.js'), 'plugin', pluginText(bridgeAddress(place)))]
}
