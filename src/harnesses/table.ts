import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { claudePlugin, claudeWaiters, copilotExtension, opencodePlugin } from './bridge-files.ts'
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
  serverEnv,
  serverWords,
} from './entries.ts'
import { gemini, qwen } from './gemini/install.ts'
import type { Harness, HarnessId } from './harness.ts'
import { directoryOf, homeOf, type Place, type Scope, xdgConfig } from './places.ts'

const cursorEvents = ['sessionStart', 'beforeSubmitPrompt', 'stop', 'sessionEnd']
const copilotEvents = ['sessionStart', 'userPromptSubmitted', 'agentStop', 'sessionEnd']

const claude: Harness = {
  id: 'claude',
  title: 'Claude Code',
  binary: 'claude',
  home: (place) => directoryOf(place, 'CLAUDE_CONFIG_DIR', '.claude'),
  scopes: ['user', 'project'],
  events: claudeEvents,
  http: true,
  approval: 'adds mcp__rouse to permissions.allow',
  // Claude Code loads no monitor of a plugin that belongs to a project.
  bridgeWays: (scope) => (scope === 'user' ? ['plugin', 'hooks'] : ['hooks']),
  next: ['Sessions of Claude Code that run already do not have it: start a new one.'],
  files: (scope, wanted) => {
    const { env, cwd } = wanted.place
    const user = directoryOf(wanted.place, 'CLAUDE_CONFIG_DIR', '.claude')
    const mcp = env.CLAUDE_CONFIG_DIR ? join(user, '.claude.json') : join(homeOf(wanted.place), '.claude.json')
    const entry: Entry = wanted.url
      ? { type: 'http', url: wanted.url, headers: bearer(`\${${keyVariable}}`) }
      : { type: 'stdio', ...serverWords(wanted) }
    const allow = { kind: 'element', path: ['permissions', 'allow'], value: 'mcp__rouse' } as const
    const waiters = wanted.bridge === 'hooks' ? claudeWaiters(wanted) : []
    const own = [...hooks('claude', claudeEvents, wanted, grouped({ timeout: hookSeconds })), ...waiters]
    return [
      json(scope === 'user' ? mcp : join(cwd, '.mcp.json'), 'MCP server', [server(['mcpServers'], entry)]),
      json(
        scope === 'user' ? join(user, 'settings.json') : join(cwd, '.claude/settings.json'),
        wanted.approve ? 'hooks, permission' : 'hooks',
        [...own, ...(wanted.approve ? [allow] : [])],
      ),
      ...(wanted.bridge === 'plugin' ? claudePlugin(user, wanted) : []),
    ]
  },
}

const codex: Harness = {
  id: 'codex',
  title: 'Codex',
  binary: 'codex',
  home: (place) => directoryOf(place, 'CODEX_HOME', '.codex'),
  scopes: ['user', 'project'],
  events: claudeEvents,
  http: true,
  approval: 'sets default_tools_approval_mode = "approve" for this server',
  next: [
    'Codex runs no hook that you have not trusted: start codex, and choose "Trust" where it says that hooks need review.',
    'Sessions that run already do not have it: start a new one.',
  ],
  files: (scope, wanted) => {
    const directory =
      scope === 'user' ? directoryOf(wanted.place, 'CODEX_HOME', '.codex') : join(wanted.place.cwd, '.codex')
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
        hooks('codex', claudeEvents, wanted, grouped({ timeout: hookSeconds })),
      ),
    ]
  },
}

const cursor: Harness = {
  id: 'cursor',
  title: 'Cursor',
  binary: 'cursor-agent',
  home: (place) => join(homeOf(place), '.cursor'),
  scopes: ['user', 'project'],
  events: cursorEvents,
  http: true,
  next: ['Switch the server on under Settings, MCP, if Cursor asks.'],
  files: (scope, wanted) => {
    const directory = join(scope === 'user' ? homeOf(wanted.place) : wanted.place.cwd, '.cursor')
    const entry: Entry = wanted.url
      ? { url: wanted.url, headers: bearer(`\${env:${keyVariable}}`) }
      : serverWords(wanted)
    return [
      json(join(directory, 'mcp.json'), 'MCP server', [server(['mcpServers'], entry)]),
      json(join(directory, 'hooks.json'), 'hooks', [version, ...hooks('cursor', cursorEvents, wanted, cursorHook)]),
    ]
  },
}

const opencode: Harness = {
  id: 'opencode',
  title: 'OpenCode',
  binary: 'opencode',
  home: (place) => join(xdgConfig(place), 'opencode'),
  scopes: ['user', 'project'],
  events: [],
  http: true,
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

const copilot: Harness = {
  id: 'copilot',
  title: 'Copilot CLI',
  binary: 'copilot',
  home: (place) => directoryOf(place, 'COPILOT_HOME', '.copilot'),
  scopes: ['user'],
  events: copilotEvents,
  http: false,
  bridgeWays: () => ['extension'],
  next: ['Sessions that run already do not have it: start a new one.'],
  files: (_scope, wanted) => {
    const directory = directoryOf(wanted.place, 'COPILOT_HOME', '.copilot')
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

/** Every harness that `rouse install` knows, in the order of `harnessIds`. */
export const harnessTable: Readonly<Record<HarnessId, Harness>> = {
  claude,
  codex,
  gemini,
  cursor,
  opencode,
  qwen,
  copilot,
}

const version = { kind: 'property', path: ['version'], value: 1 } as const
const cursorHook = (command: string) => ({ command })

/** In TOML the tables of a table come after its other values. */
function tablesLast(entry: Entry): Entry {
  const isTable = ([, value]: [string, unknown]) => typeof value === 'object' && !Array.isArray(value)
  const entries = Object.entries(entry)
  return Object.fromEntries([...entries.filter((one) => !isTable(one)), ...entries.filter(isTable)])
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
