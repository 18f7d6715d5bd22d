import type { LookupAddress } from 'node:dns'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { platform } from 'node:os'
import { outboundLimits } from './outbound-limits.ts'

const systemHostsFile = platform() === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'
/** The longest time for which a change of the file goes unnoticed. */
const checkMs = 5_000

/** The names in the machine's hosts file. c-ares does not read that file for single queries. */
export class HostsFile {
  readonly #path: string
  readonly #now: () => number
  #names: ReadonlyMap<string, readonly LookupAddress[]> = new Map()
  #version = ''
  #checkedAt = Number.NEGATIVE_INFINITY

  /** @param now a clock in ms, from any zero */
  constructor(path = systemHostsFile, now: () => number = () => performance.now()) {
    this.#path = path
    this.#now = now
  }

  /** The addresses of a name in lower case without a final dot, in the order of the file. */
  find(name: string): readonly LookupAddress[] | undefined {
    const now = this.#now()
    if (now - this.#checkedAt >= checkMs) {
      this.#checkedAt = now
      this.#refresh()
    }
    return this.#names.get(name)
  }

  /** A file that is absent, unreadable or too large holds no names. */
  #refresh(): void {
    try {
      const { mtimeMs, ino, size } = statSync(this.#path)
      const version = `${mtimeMs} ${ino} ${size}`
      if (version === this.#version) return
      this.#version = version
      this.#names = size > outboundLimits.hostsFile.max ? new Map() : parseHosts(readFileSync(this.#path, 'utf8'))
    } catch {
      this.#version = ''
      this.#names = new Map()
    }
  }
}

/** Parses hosts(5): an address, then its names; `#` begins a comment. A name on several lines has all their addresses. */
export function parseHosts(text: string): Map<string, LookupAddress[]> {
  const found = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const name of names) {
      const key = name.toLowerCase()
      const known = found.get(key)
      if (known) known.push({ address, family })
      else found.set(key, [{ address, family }])
    }
  }
  return found
}
