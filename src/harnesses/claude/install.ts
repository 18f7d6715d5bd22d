import { join } from 'node:path'
import type { Piece } from '../../config-files/document.ts'
import { shellCommand } from '../../lib/shell-command.ts'
import {
  approvalSeconds,
  bearer,
  type Entry,
  grouped,
  hookSeconds,
  hooks,
  json,
  keyVariable,
  ownFile,
  server,
  serverWords,
} from '../entries.ts'
import type { EntryChoices, HarnessFile, Install } from '../harness.ts'
import { directoryOf, homeOf, type Place } from '../places.ts'
import { rewakeSeconds } from './adapter/inside/rewake-seconds.ts'

/** The events of Claude Code, and of harnesses with the same events. */
export const claudeEvents = ['SessionStart', 'UserPromptSubmit', 'PermissionRequest', 'Stop', 'SessionEnd']

/** The ends of a step. */
const stepEvents = ['PostToolUse', 'PostToolUseFailure']

export const claudeHome = (place: Place): string => directoryOf(place, 'CLAUDE_CONFIG_DIR', '.claude')

export const claudeInstall: Install = {
  scopes: ['user', 'project'],
  http: true,
  approvals: 'hook',
  approval: 'adds mcp__rouse to permissions.allow',
  // Claude Code loads no monitor of a plugin that belongs to a project.
  bridgeWays: (scope) => (scope === 'user' ? ['plugin', 'hooks'] : ['hooks']),
  next: ['Sessions of Claude Code that run already do not have it: start a new one.'],
  files: (scope, wanted) => {
    const { env, cwd } = wanted.place
    const user = claudeHome(wanted.place)
    const mcp = env.CLAUDE_CONFIG_DIR ? join(user, '.claude.json') : join(homeOf(wanted.place), '.claude.json')
    const entry: Entry = wanted.url
      ? { type: 'http', url: wanted.url, headers: bearer(`\${${keyVariable}}`) }
      : { type: 'stdio', ...serverWords(wanted) }
    const allow = { kind: 'element', path: ['permissions', 'allow'], value: 'mcp__rouse' } as const
    const waiters = wanted.bridge === 'hooks' ? claudeWaiters(wanted) : []
    const own = [...(wanted.approvals ? approvalHooks(wanted) : claudeHooks(wanted)), ...waiters]
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

const claudeHooks = (wanted: EntryChoices): Piece[] =>
  hooks('claude', claudeEvents, wanted, grouped({ timeout: hookSeconds }))

/** The same hooks, of which one holds what Claude Code asks its user, and the others see that it was answered. */
function approvalHooks(wanted: EntryChoices): Piece[] {
  return hooks('claude', [...claudeEvents, ...stepEvents], wanted, (command, event) => {
    if (event === 'SessionStart') return grouped({ timeout: hookSeconds })(command)
    const timeout = event === 'PermissionRequest' ? approvalSeconds : hookSeconds
    // The turn does not wait for the end of a step to be reported.
    const more: Entry = stepEvents.includes(event) ? { async: true, timeout } : { timeout }
    return grouped(more)(`${command} --approvals`)
  })
}

/**
 * The plugin whose monitor prints the wakes of the bridge into a session. Claude Code loads what is in the user's directory of skills and
 * has a manifest.
 */
function claudePlugin(configDirectory: string, { launch, place }: EntryChoices): HarnessFile[] {
  const directory = join(configDirectory, 'skills/rouse')
  const manifest = {
    name: 'rouse',
    version: '1.0.0',
    description: 'Wakes this session when another agent has written.',
  }
  const monitor = {
    name: 'rouse',
    command: shellCommand([...launch, 'bridge', 'attach', 'claude'], place.platform),
    description: 'mail from other agents (Rouse)',
    when: 'always',
  }
  return [
    ownFile(join(directory, '.claude-plugin/plugin.json'), 'plugin', jsonText(manifest)),
    ownFile(join(directory, 'monitors/monitors.json'), 'monitor', jsonText([monitor])),
  ]
}

/** The hooks that wait for a wake where a session rests. Of two events, because each has one waiting process at a time. */
function claudeWaiters({ launch, place }: EntryChoices): Piece[] {
  return ['SessionStart', 'Stop'].map((event) => {
    const command = shellCommand([...launch, 'bridge', 'wait', 'claude', event], place.platform)
    const value = { hooks: [{ type: 'command', command, asyncRewake: true, timeout: rewakeSeconds }] }
    return { kind: 'element', path: ['hooks', event], value }
  })
}

const jsonText = (value: object) => `${JSON.stringify(value, null, 2)}\n`
