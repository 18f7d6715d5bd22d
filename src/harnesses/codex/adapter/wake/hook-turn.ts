import type { LocalClients } from '../../../../bridge/local/clients.ts'

/** The words of the hook of Codex about a wake. */
export interface HookTurn extends Disposable {
  /** Aborts when it has said that a turn began. */
  readonly signal: AbortSignal
  /** The turn, as the hook names it; undefined: it has said nothing. */
  readonly turnId: string | undefined
}

/** Listens for the hook that runs at the start of the turn with this wake: it is faster than a look over the disk. */
export function listenForHook(clients: LocalClients, wakeId: string, threadId: string): HookTurn {
  const stopping = new AbortController()
  const said = new AbortController()
  let turnId: string | undefined
  clients
    .reported(
      wakeId,
      ({ step, conversationId }) => step === 'turn_started' && (conversationId ?? threadId) === threadId,
      stopping.signal,
    )
    .then(
      (report) => {
        if (!report) return
        turnId = report.turnId ?? 'that its hook named'
        said.abort()
      },
      // Without the hook the looks go on.
      () => {},
    )
  return {
    signal: said.signal,
    get turnId() {
      return turnId
    },
    [Symbol.dispose]: () => stopping.abort(),
  }
}
