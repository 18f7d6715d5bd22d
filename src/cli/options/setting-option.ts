import { Option } from 'commander'
import type { Setting } from '../../config/setting.ts'

/** Returns the flag of a setting, with its help and its variable: `--data-dir <dir>` for ROUSE_DATA_DIR. */
export function settingOption({ name, kind, flag = '', shown, what }: Setting<unknown>): Option {
  const words = name.toLowerCase().replace('rouse_', '').replaceAll('_', '-')
  const values = kind.values && `${kind.values}; `
  const help = `${what} (${values}default: ${shown}) [$${name}]`
  return new Option(`--${words} ${flag}`, help.replaceAll('`', '').replace(/\[([^\]]+)\]\([^)]+\)/g, '$1'))
}
