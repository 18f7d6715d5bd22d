import { join } from 'node:path'
import {
  bearer,
  claudeEvents,
  type Entry,
  grouped,
  hookSeconds,
  hooks,
  json,
  keyVariable,
  server,
  serverWords,
} from '../entries.ts'
import type { Harness } from '../harness.ts'
import { directoryOf, homeOf, type Place } from '../places.ts'

const geminiEvents = ['SessionStart', 'BeforeAgent', 'Notification', 'AfterAgent', 'SessionEnd']

export const gemini = settingsHarness(
  'gemini',
  'Gemini CLI',
  (place) => join(place.env.GEMINI_CLI_HOME || homeOf(place), '.gemini'),
  geminiEvents,
  { name: 'rouse', timeout: hookSeconds * 1000 },
)

// The unit of a hook's time-out differs between versions of Qwen Code: its default stays.
export const qwen = settingsHarness(
  'qwen',
  'Qwen Code',
  (place) => directoryOf(place, 'QWEN_HOME', '.qwen'),
  claudeEvents,
  {},
)

/** Gemini CLI, and Qwen Code, which is made from it: one `settings.json` for servers and hooks. */
function settingsHarness(
  id: 'gemini' | 'qwen',
  title: string,
  home: (place: Place) => string,
  events: readonly string[],
  more: { readonly [name: string]: string | number },
): Harness {
  return {
    id,
    title,
    binary: id,
    home,
    scopes: ['user', 'project'],
    events,
    http: true,
    approval: 'sets trust for this server',
    next: ['Sessions that run already do not have it: start a new one.'],
    files: (scope, wanted) => {
      const directory = scope === 'user' ? home(wanted.place) : join(wanted.place.cwd, `.${id}`)
      const called: Entry = wanted.url
        ? { httpUrl: wanted.url, headers: bearer(`$${keyVariable}`) }
        : serverWords(wanted)
      const entry: Entry = wanted.approve ? { ...called, trust: true } : called
      const pieces = [server(['mcpServers'], entry), ...hooks(id, events, wanted, grouped(more))]
      return [json(join(directory, 'settings.json'), 'MCP server, hooks', pieces)]
    },
  }
}
