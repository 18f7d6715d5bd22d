import type { WakeEnd, WakeTools } from '../../../bridge/adapter.ts'
import type { LocalClients } from '../../../bridge/local/clients.ts'
import { clip, plain } from '../../../client/terminal-text.ts'
import type { DeliveryStatus, Receipt } from './frames.ts'
import type { ReceiptInbox } from './receipt-inbox.ts'

/** The receipts that may follow: those of one message come on connections of their own, in any order. Source: Qwen's cross-session protocol, §5. */
const next = {
  pending: ['held', 'delivered', 'denied', 'refused', 'expired', 'misaddressed', 'dropped'],
  held: ['delivered', 'denied', 'expired', 'misaddressed'],
  delivered: ['expired', 'misaddressed'],
  denied: [],
  refused: [],
  expired: [],
  misaddressed: [],
  dropped: [],
} as const satisfies Record<DeliveryStatus | 'pending', readonly DeliveryStatus[]>

/** A session answers at once, or its answer is lost. */
const receiptMsMax = 5_000
/** A hook reports the turn within this time; a busy session begins it later, which is not waited for. */
const turnMsMax = 5_000
const reasonMax = 300
/** The user of the session looks at a message before its model does. */
const waitsForUser = 'waiting_on_approval'
const silent = 'no receipt came: it was lost, or the token is no longer one of `qwen sessions controllers list`'

/**
 * Follows one message until no more will be known: the hook that names its turn, a receipt that ends it, or silence. A message that
 * waits for its user is waited for; the session ends that wait itself.
 */
export async function followMessage(
  wakeId: string,
  { inbox, clients, tools }: { inbox: ReceiptInbox; clients: LocalClients; tools: WakeTools },
): Promise<WakeEnd> {
  const over = new AbortController()
  const end = () => over.abort()
  tools.signal.addEventListener('abort', end, { once: true })
  if (tools.signal.aborted) end()
  let state: MessageState = 'pending'
  let last: Receipt | undefined
  let timer = setTimeout(end, receiptMsMax)
  const note = (receipt: Receipt): void => {
    const after = stateAfter(state, receipt.status)
    if (!after) return
    state = after
    last = receipt
    clearTimeout(timer)
    if (isEnd(after)) {
      end()
      return
    }
    if (after === 'held') tools.report(after, reasonOf(receipt), waitsForUser)
    else tools.report(after, reasonOf(receipt))
    if (after === 'delivered') timer = setTimeout(end, turnMsMax)
  }
  const forget = inbox.follow(wakeId, note)
  try {
    const turn = await clients.reported(wakeId, ({ step }) => step === 'turn_started', over.signal)
    if (turn) return { step: 'turn_started', detail: turn.proof }
    return endOf(state, last, tools.signal.aborted)
  } finally {
    clearTimeout(timer)
    tools.signal.removeEventListener('abort', end)
    forget()
  }
}

type End = Exclude<DeliveryStatus, 'held' | 'delivered'>

const isEnd = (status: DeliveryStatus): status is End => status !== 'held' && status !== 'delivered'

/** The outcome of a message that is no longer followed. */
function endOf(state: MessageState, last: Receipt | undefined, isStopping: boolean): WakeEnd {
  const detail = last ? reasonOf(last) : silent
  if (state === 'pending') return { step: 'written', detail }
  if (state === 'delivered') return { step: 'delivered', detail }
  if (state === 'held') {
    const why = isStopping ? 'it waits for the user of the session' : detail
    return { step: 'held', detail: why, reason: waitsForUser }
  }
  return { step: state, detail }
}

const reasonOf = ({ reason }: Receipt): string => clip(plain(reason), reasonMax)

type MessageState = keyof typeof next

/** Returns the state after a receipt; undefined: it is a repeat, and reports nothing. Pure. */
function stateAfter(state: MessageState, status: DeliveryStatus): DeliveryStatus | undefined {
  return (next[state] as readonly DeliveryStatus[]).includes(status) ? status : undefined
}
