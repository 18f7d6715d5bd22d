import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import type { HarnessSession } from '../../../bridge/adapter.ts'
import type { LocalClients } from '../../../bridge/local/clients.ts'
import { sleep, systemClock } from '../../../lib/clock.ts'

interface WatchOptions {
  /** Of the configuration. */
  readonly directories: readonly string[]
  readonly clients: LocalClients
  readonly look: () => readonly HarnessSession[]
  readonly noteSession: (session: HarnessSession) => void
  readonly signal: AbortSignal
}

/** Some file systems tell no change, and a directory that is made later is not watched: then this is how late it is. */
const lookEveryMs = 2_000
/** A harness writes its record several times at the start of a turn. */
const settleMs = 50

/** Notes each session that is new or has changed, until the signal aborts. */
export async function watchSessions({ directories, clients, look, noteSession, signal }: WatchOptions): Promise<void> {
  let wake = new AbortController()
  const changed = () => wake.abort()
  const watchers = directories.flatMap((directory) => watched(join(directory, 'sessions'), changed))
  const stop = clients.onChange('claude', changed)
  signal.addEventListener('abort', changed, { once: true })
  let known = new Map<string, string>()
  try {
    while (!signal.aborted) {
      wake = new AbortController()
      const sessions = new Map(look().map((session) => [session.conversationId, session]))
      for (const [id, session] of sessions) if (known.get(id) !== JSON.stringify(session)) noteSession(session)
      known = new Map([...sessions].map(([id, session]) => [id, JSON.stringify(session)]))
      await sleep(systemClock, lookEveryMs, wake.signal)
      await sleep(systemClock, settleMs, signal)
    }
  } finally {
    signal.removeEventListener('abort', changed)
    stop()
    for (const watcher of watchers) watcher.close()
  }
}

function watched(path: string, changed: () => void): FSWatcher[] {
  try {
    const watcher = watch(path, { persistent: false }, changed)
    watcher.on('error', () => watcher.close())
    return [watcher]
  } catch {
    return []
  }
}
