import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { AdapterContext, SettingMeaning } from '../../../bridge/adapter.ts'
import { programPath } from '../../program-path.ts'
import type { TurnsLook } from './app-server.ts'

/** The settings of Codex in the user's configuration. */
export const settingMeanings = {
  program: { type: 'string', help: 'the path of codex; by default it is looked for in PATH' },
  homes: { type: 'strings', help: 'homes of Codex; by default CODEX_HOME, else ~/.codex' },
  sockets: {
    type: 'strings',
    help: 'sockets of app-servers that were started with --listen unix://PATH; that of each home is known',
  },
  steer: {
    type: 'boolean',
    help: 'put a wake into the turn that runs: it cuts the answer of the model, which begins it again',
  },
  resumeClosed: {
    type: 'boolean',
    help: 'open a closed conversation for a wake, where nobody watches. What it has to ask for ends its turn',
  },
} as const satisfies Record<string, SettingMeaning>

/** The settings with their defaults. */
export interface CodexSettings {
  /** undefined: Codex is not installed here. */
  readonly program: string | undefined
  readonly homes: readonly string[]
  readonly sockets: readonly string[]
  readonly steer: boolean
  readonly resumeClosed: boolean
}

/** Returns the settings with their defaults. The configuration has checked their types. */
export function codexSettings({ settings, env }: Pick<AdapterContext, 'settings' | 'env'>): CodexSettings {
  const { program, homes, sockets, steer, resumeClosed } = settings as Partial<CodexSettings>
  const userHome = env.HOME || homedir()
  const absolute = (path: string) => resolve(path.replace(/^~(?=\/|$)/, userHome))
  return {
    program: program ? absolute(program) : programPath('codex', { env, platform: process.platform }),
    homes: (homes?.length ? homes : [env.CODEX_HOME || join(userHome, '.codex')]).map(absolute),
    sockets: (sockets ?? []).map(absolute),
    steer: steer === true,
    resumeClosed: resumeClosed === true,
  }
}

/** Returns which turns may have a wake: as their prompt, or where a wake may join a turn, anywhere in them. Pure. */
export function turnsToLook({ steer }: Pick<CodexSettings, 'steer'>, limit: number): TurnsLook {
  return steer ? { limit: fullTurnsMax, itemsView: 'full' } : { limit, itemsView: 'summary' }
}

const fullTurnsMax = 5
