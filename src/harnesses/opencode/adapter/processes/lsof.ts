import { isMeant, type Listener, loopbackOf, type Meant } from './meant.ts'

/** What `lsof -F pcn` says: lines with the letter of a field first; `p` begins a process. Pure. */
export function listenersOfLsof(text: string, meant: Meant): Listener[] {
  const found: Listener[] = []
  let pid = 0
  let name = ''
  for (const line of text.split('\n')) {
    const value = line.slice(1)
    if (line.startsWith('p')) pid = Number(value)
    if (line.startsWith('c')) name = value
    if (!line.startsWith('n')) continue
    const at = value.lastIndexOf(':')
    const host = loopbackOf(value.slice(0, at))
    const port = Number(value.slice(at + 1))
    if (pid > 0 && port > 0 && host !== undefined && isMeant(name, port, meant)) found.push({ pid, port, host })
  }
  return found
}
