import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './execute.mjs'

const network = '10.88.0'

/**
 * Processes as a container engine would give them: with a root, a user, an address and a host file of their own, made with
 * `unshare`, overlay mounts and a bridge. Everything is gone when this process is, for it has a pid namespace of its own.
 */
export class Boxes {
  #directory
  #mounts = 0
  #addresses = new Map()
  #switch

  /** `directory` is a tmpfs: an overlay cannot lie on what it covers. */
  constructor(directory) {
    this.#directory = directory
  }

  /** Hosts by name, as the engine's name service would know them. */
  get hosts() {
    return [...this.#addresses].map(([name, address]) => `${address} ${name}\n`).join('')
  }

  addressOf(name) {
    if (!this.#addresses.has(name)) this.#addresses.set(name, `${network}.${this.#addresses.size + 2}`)
    return this.#addresses.get(name)
  }

  /** The script that makes a box of this process: layers over this machine, volumes, a user; then the command. */
  #script({ layers = [], writable, volumes = {}, readOnly = false, workdir = '/', user = 'root', caps = [], argv }) {
    const root = join(this.#directory, `root-${this.#mounts++}`)
    mkdirSync(root, { recursive: true })
    const lower = `lowerdir=${[...layers, '/'].join(':')}`
    const upper = writable ? `,upperdir=${writable},workdir=${mkdir(`${writable}.work`)}` : ''
    const inRoot = ['chroot', root, ...becoming(user), '--no-new-privs']
    const bounding = ['--bounding-set', ['-all', ...caps.map((cap) => `+${cap}`)].join(','), '--inh-caps', '-all']
    return [
      'set -eu',
      `mount -t overlay overlay -o ${quote(lower + upper + (readOnly || !writable ? ',ro' : ''))} ${quote(root)}`,
      ...['proc', 'dev', 'sys'].map((name) => `mount --rbind /${name} ${quote(join(root, name))}`),
      `mount -t tmpfs -o mode=1777 tmpfs ${quote(join(root, 'tmp'))}`,
      ...Object.entries(volumes).map(([path, source]) => `mount --bind ${quote(source)} ${quote(join(root, path))}`),
      'read -r _',
      `exec ${[...inRoot, ...bounding, 'sh', '-c', 'cd "$0" && exec "$@"', workdir, ...argv].map(quote).join(' ')} </dev/null`,
    ].join('\n')
  }

  /** Starts a box. With a `name` it has an address of that name; without it shares this machine's network. */
  async start({ name, env = {}, log, ...options }) {
    const script = this.#script(options)
    const output = log === undefined ? 'inherit' : openSync(log, 'a', 0o666)
    const argv = ['--mount', ...(name ? ['--net'] : []), 'sh', '-c', script]
    const child = spawn('unshare', argv, {
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env },
      stdio: ['pipe', output, output],
    })
    if (log !== undefined) closeSync(output)
    const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))
    if (name) await this.#connect(name, child.pid)
    child.stdin.end('\n')
    return { name, pid: child.pid, ended, kill: (signal) => child.kill(signal), user: options.user, env }
  }

  /** Runs a command in a box that runs, as its user and with its environment. Answers the exit code. */
  inside(box, workdir, argv) {
    const enter = ['--target', String(box.pid), '--mount', '--net', '--root']
    const command = [...becoming(box.user), 'sh', '-c', 'cd "$0" && exec "$@"', workdir, ...argv]
    return execute('nsenter', [...enter, ...command], { env: box.env, allowFailure: true })
  }

  /** A command of this machine in the network of a box: what is published on localhost there, it finds. */
  beside(box, argv, options) {
    return spawn('nsenter', ['--target', String(box.pid), '--net', ...argv], options)
  }

  async #connect(name, pid) {
    const address = this.addressOf(name)
    const on = (target, ...argv) => execute('nsenter', ['--target', String(target), '--net', 'ip', ...argv])
    this.#switch ??= await this.#startSwitch(on)
    await netnsOf(pid)
    const port = `v${address.split('.').at(-1)}-${pid}`.slice(0, 15)
    await on(this.#switch, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid))
    await on(this.#switch, 'link', 'set', port, 'master', 'br0', 'up')
    await on(pid, 'link', 'set', 'lo', 'up')
    await on(pid, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    await on(pid, 'link', 'set', 'eth0', 'up')
  }

  async #startSwitch(on) {
    const { pid } = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' })
    await netnsOf(pid)
    await on(pid, 'link', 'add', 'br0', 'type', 'bridge')
    await on(pid, 'link', 'set', 'br0', 'up')
    return pid
  }
}

/** Resolves when the process has left this machine's network. */
async function netnsOf(pid) {
  const ours = await execute('readlink', ['/proc/self/ns/net'])
  for (let tries = 0; tries < 500; tries++) {
    const theirs = await execute('readlink', [`/proc/${pid}/ns/net`], { allowFailure: true })
    if (theirs.stdout && theirs.stdout !== ours.stdout) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`Process ${pid} has no network of its own.`)
}

/** `node`, or `101:101`. */
function becoming(user) {
  const [name, group = name] = user.split(':')
  return ['setpriv', '--reuid', name, '--regid', group, '--clear-groups']
}

function mkdir(path) {
  mkdirSync(path, { recursive: true })
  return path
}

function quote(text) {
  return `'${String(text).replaceAll("'", `'\\''`)}'`
}
