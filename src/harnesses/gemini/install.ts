import { join } from 'node:path'
import { bearer, type Entry, grouped, hooks, json, keyVariable, server, serverWords } from '../entries.ts'
import type { Install } from '../harness.ts'
import type { Place } from '../places.ts'

/** Gemini CLI, and Qwen Code, which is made from it: one `settings.json` for servers and hooks. */
export function settingsInstall(
  id: string,
  home: (place: Place) => string,
  events: readonly string[],
  more: { readonly [name: string]: string | number },
): Install {
  return {
    scopes: ['user', 'project'],
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
