import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { atTestEnd } from './ends.ts'
import { rouseWords } from './program/rouse-words.ts'

const root = resolve(import.meta.dirname, '../..')

/** A network of its own, as a container or a machine behind NAT has one. */
export interface Network {
  readonly address: string
  /** Runs a program in this network. */
  run(argv: readonly string[], env?: Record<string, string>): NetworkProcess
}

interface NetworkProcess {
  readonly exited: Promise<number | null>
  output(): { stdout: string; stderr: string }
  kill(signal: NodeJS.Signals): void
}

/** The reason why networks cannot be made here; undefined where they can. */
export function whyNoNetworks(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces are of Linux'
  if (process.getuid?.() !== 0) return 'only root makes network namespaces'
  const probe = `rouse-probe-${process.pid}`
  try {
    ip('netns', 'add', probe)
    ip('netns', 'del', probe)
  } catch (error) {
    return `\`ip netns add\` does not work here: ${(error as Error).message.trim()}`
  }
  return undefined
}

/**
 * Two networks with a cable between them. `inside` reaches `outside`; from `outside` there is a way back for what leaves
 * `port` only, so that nothing there can open a connection to `inside`. Both go with the test.
 */
export function twoNetworks(port: number): { outside: Network; inside: Network } {
  const names = { outside: `rouse-${process.pid}-out`, inside: `rouse-${process.pid}-in` }
  // Addresses for documentation: no machine has them. RFC 5737.
  const outside = '192.0.2.1'
  const inside = '192.0.2.2'
  for (const name of Object.values(names)) {
    ip('netns', 'add', name)
    atTestEnd(() => ip('netns', 'del', name))
    ip('-n', name, 'link', 'set', 'lo', 'up')
  }
  ip('-n', names.outside, 'link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', names.inside)
  ip('-n', names.outside, 'address', 'add', `${outside}/32`, 'dev', 'cable')
  ip('-n', names.inside, 'address', 'add', `${inside}/24`, 'dev', 'cable')
  // The way back is no way there: a check of the reverse path would drop what comes in.
  for (const scope of ['all', 'cable']) {
    const setting = `/proc/sys/net/ipv4/conf/${scope}/rp_filter`
    execFileSync('ip', ['netns', 'exec', names.outside, 'sh', '-c', `echo 0 > ${setting}`])
  }
  for (const name of Object.values(names)) ip('-n', name, 'link', 'set', 'cable', 'up')
  ip('-n', names.outside, 'rule', 'add', 'ipproto', 'tcp', 'sport', String(port), 'lookup', '100')
  ip('-n', names.outside, 'route', 'add', `${inside}/32`, 'dev', 'cable', 'src', outside, 'table', '100')
  return { outside: network(names.outside, outside), inside: network(names.inside, inside) }
}

/** The words that start `rouse` there. */
export function rouseArgv(...argv: string[]): string[] {
  return [process.execPath, ...rouseWords(), ...argv]
}

function network(name: string, address: string): Network {
  return {
    address,
    run(argv, env = {}) {
      const child = spawn('ip', ['netns', 'exec', name, ...argv], {
        cwd: root,
        env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const printed = { stdout: '', stderr: '' }
      child.stdout.setEncoding('utf8').on('data', (text) => (printed.stdout += text))
      child.stderr.setEncoding('utf8').on('data', (text) => (printed.stderr += text))
      const exited = once(child, 'close').then(([code]): number | null => code)
      atTestEnd(async () => {
        child.kill('SIGKILL')
        await exited
      })
      return { exited, output: () => ({ ...printed }), kill: (signal) => void child.kill(signal) }
    },
  }
}

function ip(...argv: string[]): void {
  execFileSync('ip', argv, { stdio: ['ignore', 'ignore', 'pipe'] })
}
