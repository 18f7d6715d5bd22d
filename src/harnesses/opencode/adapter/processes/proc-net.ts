import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { isMeant, type Listener, loopbackOf, type ProcessChoice } from './meant.ts'

/** A listening socket as the kernel lists it. */
interface Socket {
  readonly inode: string
  readonly uid: number
  readonly host: string
  readonly port: number
}

/** Processes that have more files open than this are not looked through to the end. */
const filesMax = 10_000

/** The ports of the processes of one user, by proc(5): the sockets of this network, and which process has each of them open. */
export function listenersOfProc(proc: string, uid: number, meant: ProcessChoice): Listener[] {
  const sockets = new Map(
    ['tcp', 'tcp6']
      .flatMap((name) => listeningSockets(readText(`${proc}/self/net/${name}`)))
      .filter((socket) => socket.uid === uid)
      .map((socket) => [socket.inode, socket]),
  )
  if (sockets.size === 0) return []
  return ownProcesses(proc, uid).flatMap((pid) => {
    const name = nameOf(proc, pid)
    const own = openSockets(proc, pid).flatMap((inode) => sockets.get(inode) ?? [])
    return own.filter(({ port }) => isMeant(name, port, meant)).map(({ host, port }) => ({ pid, host, port }))
  })
}

/** The listening sockets on loopback or on every address of `/proc/net/tcp` or `tcp6`. Pure. */
export function listeningSockets(text: string): Socket[] {
  return text.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , uid, , inode] = line.trim().split(/\s+/)
    const [address = '', port = ''] = local.split(':')
    const host = loopbackOf(addresses[address] ?? '')
    if (state !== listening || host === undefined || inode === undefined) return []
    return [{ inode, uid: Number(uid), host, port: Number.parseInt(port, 16) }]
  })
}

const listening = '0A'

/** As the kernel writes them: words of four bytes in the order of the processor; all that Node runs on is little-endian, or the words are the same. */
const addresses: Readonly<Record<string, string>> = {
  '0100007F': '127.0.0.1',
  '7F000001': '127.0.0.1',
  '00000000': '0.0.0.0',
  '00000000000000000000000000000000': '::',
  '00000000000000000000000001000000': '::1',
  '00000000000000000000000000000001': '::1',
}

function ownProcesses(proc: string, uid: number): number[] {
  const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => statSync(`${proc}/${pid}`, { throwIfNoEntry: false })?.uid === uid).map(Number)
}

/** The name of the program; of a script or a link the name that it was called by. */
function nameOf(proc: string, pid: number): string {
  const called = basename(readText(`${proc}/${pid}/cmdline`).split('\0')[0] ?? '')
  return /^\.?opencode/.test(called) ? called : readText(`${proc}/${pid}/comm`).trim()
}

function openSockets(proc: string, pid: number): string[] {
  try {
    const files = readdirSync(`${proc}/${pid}/fd`).slice(0, filesMax)
    return files.flatMap((file) => /^socket:\[(\d+)\]$/.exec(linkOf(`${proc}/${pid}/fd/${file}`))?.[1] ?? [])
  } catch {
    return []
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
