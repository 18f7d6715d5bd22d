/**
 * Why somebody waits for a person. `input`, `auth`: a task asks. `approval`: a harness waits until its next step is approved. `mail`: unread
 * mail to the operator. `failing`: events of a subscription fail, and the next ones are still sent. `degraded`: they are no longer sent.
 * `retrying`: a receiver is away. `gate`: recovery has stopped by itself. `parked`: a harness is at a limit. `capped`: it has had as many turns as it may. `late`: nobody has taken up a task
 * for long.
 */
export type NeedKind = (typeof needKinds)[number]
export const needKinds = [
  'input',
  'auth',
  'approval',
  'mail',
  'failing',
  'degraded',
  'retrying',
  'gate',
  'parked',
  'capped',
  'late',
] as const

/** The thing that a need is about. */
interface Subject {
  readonly kind: NeedKind
  readonly agent: string | null
  readonly taskId?: string
  readonly version?: number
  readonly messageId?: string
  readonly sessionId?: string
  readonly approvalId?: string
  readonly subscriptionId?: string
}

/** Something that waits for a person, as far as programs are notified of it. */
export interface Need extends Subject {
  /** ISO 8601. */
  readonly since: string
  readonly text: string
}

/** Returns the id of a need: the same as long as it waits. A task that asks again is another one, a subscription that becomes worse is not. Pure. */
export function needIdOf({
  kind,
  agent,
  taskId,
  version,
  messageId,
  sessionId,
  approvalId,
  subscriptionId,
}: Subject): string {
  if (taskId !== undefined) return `${taskId}@${version}`
  return messageId ?? subscriptionId ?? approvalId ?? sessionId ?? (agent === null ? kind : `${kind}:${agent}`)
}
