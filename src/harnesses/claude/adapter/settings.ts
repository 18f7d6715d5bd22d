import { isAbsolute, join } from 'node:path'
import type { AdapterContext, SettingMeaning } from '../../../bridge/adapter.ts'

export const claudeSettings: Readonly<Record<string, SettingMeaning>> = {
  configDirs: {
    type: 'strings',
    help: 'the configuration directories of Claude Code, absolute (default: $CLAUDE_CONFIG_DIR, else ~/.claude)',
  },
  inbox: {
    type: 'boolean',
    help: 'use the inbox socket of a session where nothing of Rouse listens in it: no stable interface, and nothing answers (default: false)',
  },
}

/** The user's configuration of Claude Code. */
export interface ClaudeSettings {
  /** Absolute. */
  readonly configDirectories: readonly string[]
  readonly isInboxAllowed: boolean
}

/** Errors: a directory that is not absolute, or none, with the field and the remedy. Pure. */
export function readSettings({ settings, env }: Pick<AdapterContext, 'settings' | 'env'>): ClaudeSettings {
  const { configDirs, inbox } = settings
  const home = env.HOME || env.USERPROFILE
  const usual = env.CLAUDE_CONFIG_DIR || (home ? join(home, '.claude') : undefined)
  const named = Array.isArray(configDirs) ? configDirs.map(String) : []
  const wrong = named.find((directory) => !isAbsolute(directory))
  if (wrong !== undefined) throw new Error(`configDirs: "${wrong}" is no absolute path.`)
  const directories = named.length > 0 ? named : usual === undefined ? [] : [usual]
  if (directories.length === 0) throw new Error('configDirs: there is no home directory: name the directories.')
  return { configDirectories: [...new Set(directories)], isInboxAllowed: inbox === true }
}
