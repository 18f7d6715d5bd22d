import { join } from 'node:path'
import { localAddress, thisMachine } from '../bridge/local/address.ts'
import { shellCommand } from '../cli/install/launch.ts'
import { UsageError } from '../client/failure.ts'
import type { Piece } from '../config-files/document.ts'
import { rewakeSeconds } from './claude/adapter/inside/rewake-seconds.ts'
import { extensionText } from './copilot/adapter/extension-text.ts'
import type { HarnessFile, Wanted } from './harness.ts'
import { pluginText } from './opencode/adapter/plugin/plugin-text.ts'

/**
 * The plugin whose monitor prints the wakes of the bridge into a session. Claude Code loads what is in the user's directory of skills and
 * has a manifest.
 */
export function claudePlugin(configDirectory: string, { launch, place }: Wanted): HarnessFile[] {
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
export function claudeWaiters({ launch, place }: Wanted): Piece[] {
  return ['SessionStart', 'Stop'].map((event) => {
    const command = shellCommand([...launch, 'bridge', 'wait', 'claude', event], place.platform)
    const value = { hooks: [{ type: 'command', command, asyncRewake: true, timeout: rewakeSeconds }] }
    return { kind: 'element', path: ['hooks', event], value }
  })
}

/** The extension that takes the wakes of the bridge in a session of Copilot CLI. */
export function copilotExtension(directory: string, { place }: Wanted): HarnessFile[] {
  const address = localAddress(place.env, thisMachine())
  if (address === undefined) throw new UsageError('There is no home directory: set HOME or XDG_CONFIG_HOME.')
  return [ownFile(join(directory, 'extensions/rouse/extension.mjs'), 'extension', extensionText(address))]
}

/** The plugin of OpenCode, which loads every `.js` of that folder. */
export function opencodePlugin(directory: string, { place }: Wanted): HarnessFile[] {
  const address = localAddress(place.env, thisMachine())
  if (address === undefined) throw new UsageError('There is no home directory: set HOME or XDG_CONFIG_HOME.')
  return [ownFile(join(directory, 'plugins/rouse.js'), 'plugin', pluginText(address))]
}

/** A file that only `rouse install` writes. */
function ownFile(path: string, holds: string, text: string): HarnessFile {
  return { path, format: 'whole', holds, pieces: [{ kind: 'property', path: [], value: text }] }
}

const jsonText = (value: object) => `${JSON.stringify(value, null, 2)}\n`
