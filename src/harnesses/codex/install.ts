import { join } from 'node:path'
import { shellCommand } from '../../lib/shell-command.ts'
import { claudeEvents } from '../claude/install.ts'
import {
  type Entry,
  grouped,
  hookSeconds,
  hooks,
  json,
  keyVariable,
  server,
  serverEnv,
  serverWords,
} from '../entries.ts'
import type { Install } from '../harness.ts'
import { directoryOf, type Place } from '../places.ts'

export const codexHome = (place: Place): string => directoryOf(place, 'CODEX_HOME', '.codex')

export const codexInstall: Install = {
  scopes: ['user', 'project'],
  http: true,
  approvals: 'bridge',
  approval: 'sets default_tools_approval_mode = "approve" for this server',
  next: [
    'Codex runs no hook that you have not trusted: start codex, and choose "Trust" where it says that hooks need review.',
    'Sessions that run already do not have it: start a new one.',
  ],
  files: (scope, wanted) => {
    const directory = scope === 'user' ? codexHome(wanted.place) : join(wanted.place.cwd, '.codex')
    const called: Entry = wanted.url
      ? { url: wanted.url, bearer_token_env_var: keyVariable }
      : { ...serverWords(wanted), ...(scope === 'user' ? serverEnv(wanted, ['HOME', 'USERPROFILE']) : {}) }
    const entry: Entry = wanted.approve ? { ...called, default_tools_approval_mode: 'approve' } : called
    return [
      {
        path: join(directory, 'config.toml'),
        format: 'toml',
        holds: 'MCP server',
        pieces: [server(['mcp_servers'], tablesLast(entry))],
      },
      json(
        join(directory, 'hooks.json'),
        'hooks',
        hooks('codex', claudeEvents, wanted, (command, event) =>
          grouped({ timeout: timeoutOf(event) })(isDialog(event, wanted.place) ? inBackground(command) : command),
        ),
      ),
    ]
  },
}

/** Codex shows the dialog of an approval when the hook has ended. */
const isDialog = (event: string, { platform }: Place): boolean => event === 'PermissionRequest' && platform !== 'win32'

/** The command of a hook that nothing waits for. It has the input of the hook, and is told the parent, which a process without one does not find. */
function inBackground(command: string): string {
  return shellCommand(['sh', '-c', `{ ${command} --parent $PPID <&3 3<&- >/dev/null 2>&1 & } 3<&0`], 'linux')
}

/** Codex gives a hook of `SessionEnd` three seconds at most, and warns of more at each start. */
const timeoutOf = (event: string): number => (event === 'SessionEnd' ? 3 : hookSeconds)

/** In TOML the tables of a table come after its other values. */
function tablesLast(entry: Entry): Entry {
  const isTable = ([, value]: [string, unknown]) => typeof value === 'object' && !Array.isArray(value)
  const entries = Object.entries(entry)
  return Object.fromEntries([...entries.filter((one) => !isTable(one)), ...entries.filter(isTable)])
}
