import { join } from 'node:path'
import { bearer, type Entry, hooks, json, keyVariable, server, serverWords, version } from '../entries.ts'
import type { Install } from '../harness.ts'
import { homeOf } from '../places.ts'

const cursorEvents = ['sessionStart', 'beforeSubmitPrompt', 'stop', 'sessionEnd']

export const cursorInstall: Install = {
  scopes: ['user', 'project'],
  http: true,
  next: ['Switch the server on under Settings, MCP, if Cursor asks.'],
  files: (scope, wanted) => {
    const directory = join(scope === 'user' ? homeOf(wanted.place) : wanted.place.cwd, '.cursor')
    const entry: Entry = wanted.url
      ? { url: wanted.url, headers: bearer(`\${env:${keyVariable}}`) }
      : serverWords(wanted)
    return [
      json(join(directory, 'mcp.json'), 'MCP server', [server(['mcpServers'], entry)]),
      json(join(directory, 'hooks.json'), 'hooks', [
        version,
        ...hooks('cursor', cursorEvents, wanted, (command) => ({ command })),
      ]),
    ]
  },
}
