import type { ReportedConversation } from './clients.ts'
import type { MessageOf } from './messages.ts'

const conversationsMax = 1_000

/** The reports of hooks about conversations. */
export class ReportedConversations {
  readonly #byKey = new Map<string, ReportedConversation>()

  /** Notes an event. One without a conversation concerns none. */
  note(hook: MessageOf<'hook'>, at: number): void {
    const { harness, conversationId } = hook
    if (conversationId === undefined) return
    const key = `${harness} ${conversationId}`
    const before = this.#byKey.get(key)
    // The end of `claude -p --resume` is reported under the id of a conversation that may live on in a terminal.
    if (hook.ends === true && before?.process?.pid !== hook.process?.pid) return
    // Again at the end of the map: its order is that of the last events.
    this.#byKey.delete(key)
    if (hook.ends === true) return
    this.#byKey.set(key, after(before, { ...hook, conversationId }, at))
    for (const oldest of this.#byKey.keys()) {
      if (this.#byKey.size <= conversationsMax) break
      this.#byKey.delete(oldest)
    }
  }

  of(harness: string): readonly ReportedConversation[] {
    return [...this.#byKey.values()].filter((one) => one.harness === harness).reverse()
  }
}

/** Returns a conversation as it is known after an event. Pure. */
function after(
  before: ReportedConversation | undefined,
  hook: MessageOf<'hook'> & { readonly conversationId: string },
  at: number,
): ReportedConversation {
  const { harness, conversationId, event, cwd, process, state, turnId, permissionMode } = hook
  const turn =
    state === undefined ? before?.activeTurnId : state === 'idle' ? undefined : (turnId ?? before?.activeTurnId)
  return {
    harness,
    conversationId,
    event,
    at,
    ...given('cwd', cwd ?? before?.cwd),
    ...given('process', process ?? before?.process),
    ...given('state', state ?? before?.state),
    ...given('activeTurnId', turn),
    ...given('permissionMode', permissionMode ?? before?.permissionMode),
  }
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [name in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [name in Name]?: Value }
}
