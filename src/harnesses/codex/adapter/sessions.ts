import type { HarnessSession } from '../../../bridge/adapter.ts'
import { harnessProcess } from '../../harness-process.ts'
import { type CodexThread, stateOf } from './thread.ts'
import type { Writers } from './writers.ts'

/** The place of a thread, as it is seen from outside. */
export type Seat =
  /** In a server that can be reached. */
  | { readonly kind: 'loaded' }
  /** In a process that cannot. */
  | { readonly kind: 'open' }
  /** In none; `mayOpen`: a wake opens it. */
  | { readonly kind: 'closed'; readonly mayOpen: boolean }
  /** It cannot be determined; `isNewest`: of its directory. */
  | { readonly kind: 'maybe'; readonly isNewest: boolean }

/** Returns a thread as the bridge knows conversations. */
export function sessionOf(thread: CodexThread, seat: Seat, writers: Writers | undefined): HarnessSession {
  const pid = writers?.get(thread.id)?.pid
  const state = seat.kind === 'loaded' ? stateOf(thread.status) : 'unknown'
  return {
    harness: 'codex',
    conversationId: thread.id,
    cwd: thread.cwd,
    ...(pid ? { process: harnessProcess([], pid) } : {}),
    state,
    ...routeOf(thread, seat),
  }
}

function routeOf({ preview }: CodexThread, seat: Seat): Pick<HarnessSession, 'route' | 'remark'> {
  switch (seat.kind) {
    case 'loaded':
      if (preview === '') return { remark: 'It has had no prompt yet: type one, then it can be woken.' }
      return { route: 'app-server' }
    case 'open':
      return {
        route: 'queue',
        remark: 'It runs without an app-server: a wake takes up to 10 s, and what it does is not seen.',
      }
    case 'closed':
      if (seat.mayOpen) return { route: 'resume', remark: 'It is closed: a wake opens it where nobody watches.' }
      return { remark: 'It is closed: open it again (codex resume).' }
    case 'maybe':
      return {
        ...(seat.isNewest ? { route: 'queue' } : {}),
        remark: 'Whether it is open cannot be determined on this system: what is closed takes no wake.',
      }
  }
}
