import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Machine, thisMac } from '../../../../src/harnesses/generic/osascript/machine.ts'
import { createOsascriptAdapter } from '../../../../src/harnesses/generic/osascript/osascript-adapter.ts'
import { processesOfPs } from '../../../../src/harnesses/generic/tmux/processes.ts'
import { atTestEnd } from '../../../support/ends.ts'
import { contextOf } from '../../adapter-tools.ts'

/** As `ps` of macOS writes it: a terminal, an editor with its helper, a harness in tmux, and one that is suspended. */
export const psOutput = `    1     0     1     0 Sun Nov 22 08:00:00 2026     /sbin/launchd
  700     1   700     0 Sun Nov 22 09:00:00 2026     /System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal
  701   700   701   703 Sun Nov 22 09:00:01 2026     login -pf donna
  702   701   702   703 Sun Nov 22 09:00:01 2026     -zsh
  703   702   703   703 Sun Nov 22 09:00:05 2026     claude --continue
  704   702   704   703 Sun Nov 22 09:00:05 2026     claude
  800     1   800     0 Sun Nov 22 09:10:00 2026     /Applications/Visual Studio Code.app/Contents/MacOS/Electron
  801   800   800     0 Sun Nov 22 09:10:00 2026     /Applications/Visual Studio Code.app/Contents/Frameworks/Code Helper.app/Contents/MacOS/Code Helper --type=utility
  802   801   802   803 Sun Nov 22 09:10:01 2026     /bin/zsh -il
  803   802   803   803 Sun Nov 22 09:10:05 2026     node /opt/homebrew/lib/node_modules/@qwen-code/qwen-code/cli.js
  900     1   900     0 Sun Nov 22 09:20:00 2026     tmux new
  901   900   901   901 Sun Nov 22 09:20:01 2026     claude
`

const rule = '─'.repeat(40)
export const emptyScreen = `${rule}\n❯\n${rule}\n  ? for shortcuts`

/** The result of a look at Terminal. */
export const lookOf = (over: object = {}) => ({
  isFront: true,
  window: 'AXStandardWindow',
  sheets: 0,
  role: 'AXTextArea',
  tty: '/dev/ttys003',
  value: emptyScreen,
  mark: '99-12345',
  ...over,
})

interface Order {
  readonly hangs?: true
  readonly stderr?: string
  readonly says?: object | string
}

/** A Mac on which Claude Code runs in Terminal, with another `osascript`. */
export function openMac({ settings = {}, scriptMs = 10_000, platform = 'darwin' as NodeJS.Platform } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'rouse-osascript-'))
  atTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  copyFileSync(resolve(import.meta.dirname, 'fake-osascript.cjs'), join(directory, 'fake.cjs'))
  const program = join(directory, 'osascript')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${directory}/fake.cjs' "$@"\n`, { mode: 0o755 })
  const order = (look: Order, write: Order = { says: { did: 'entered' } }) =>
    writeFileSync(join(directory, 'order'), JSON.stringify({ look, write }))
  order({ says: lookOf() })
  let ps = psOutput
  const machine: Machine = {
    ...thisMac(program, scriptMs),
    platform,
    processes: () => new Map(processesOfPs(ps).map((one) => [one.pid, one])),
    directories: async () => new Map([703, 803].map((pid) => [pid, '/Users/donna/app'])),
    tty: async () => '/dev/ttys003',
  }
  const env = { HOME: directory, PATH: process.env.PATH ?? '' }
  const { context, clients } = contextOf({ env, settings, directories: ['/Users/donna'] })
  const calls = (): string[][] =>
    existsSync(join(directory, 'calls'))
      ? readFileSync(join(directory, 'calls'), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as string[])
      : []
  return {
    adapter: createOsascriptAdapter(context, machine),
    clients,
    order,
    calls,
    lockPath: join(directory, '.config', 'rouse', 'run', 'osascript.lock'),
    end: (pid: number) => {
      ps = ps.replace(new RegExp(`^ *${pid} .*\n`, 'm'), '')
    },
  }
}
