import { join } from 'node:path'
import { bearer, type Entry, hooks, json, keyVariable, server, serverWords, version } from '../entries.ts'
import type { Harness, Install } from '../harness.ts'
import { ends, rests, starts, works } from '../hooks.ts'
import { homeOf } from '../places.ts'

const cursorEvents = ['sessionStart', 'beforeSubmitPrompt', 'stop', 'sessionEnd']

const cursorInstall: Install = {
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

export const cursor: Harness = {
  id: 'cursor',
  title: 'Cursor',
  binary: 'cursor-agent',
  surface: 'cursor',
  variables: { mark: 'CURSOR_TRACE_ID' },
  home: (place) => join(homeOf(place), '.cursor'),
  install: cursorInstall,
  hooks: {
    // Only the start of a session takes text for the model; `stop` would start a turn with it.
    acts: { sessionstart: starts, beforesubmitprompt: works, stop: rests, sessionend: ends },
    prompt: 'beforesubmitprompt',
    contextOutput: (_event, text) => ({ additional_context: text }),
  },
}
