import { LogNotifier } from '../../src/log/log-notifier.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import type { LiveSession } from '../../src/mailbox/context.ts'
import { strategies } from '../../src/mailbox/delivery/strategies.ts'
import type { MailLimits } from '../../src/mailbox/limits/mail-limits.ts'
import { Sends } from '../../src/mailbox/limits/sends.ts'
import { type MailInput, sendMail } from '../../src/mailbox/sending/send-mail.ts'
import { registerAgent } from '../../src/registry/agents/agents.ts'
import { type Caller, operator } from '../../src/registry/callers/caller.ts'
import { RepeatedRequests } from '../../src/registry/idempotency.ts'
import { ensureProject } from '../../src/registry/projects/project-store.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { insertEvents } from '../support/insert-events.ts'
import { openStore } from '../support/store.ts'

export type Office = Awaited<ReturnType<typeof openOffice>>

/** Mailboxes on a store of their own, without a gateway around them. Who is there is what a test says. */
export async function openOffice(...handles: string[]) {
  const clock = new FakeClock()
  const directory = dataDirectory()
  const db = await openStore(directory.path, clock)
  await ensureProject(db, 'default')
  const sessions = new Map<string, LiveSession>()
  const core = { db, clock, log: silentLogger, append: insertEvents }
  const limits: MailLimits = { perMinute: 300, stormTurns: 60, stormMessages: 600 }
  const context = {
    ...core,
    notifier: new LogNotifier(),
    limits,
    sends: new Sends({ ...core, limits }),
    usage: { requireRoom() {}, add() {} },
    repeats: new RepeatedRequests(),
    strategies,
    findSession: async (_reader: unknown, agentId: string) => sessions.get(agentId),
  }
  const callers: Record<string, Caller> = {}
  const enrol = async (handle: string) => {
    const { agent } = await registerAgent({ ...core, revoked() {} }, operator, { handle })
    callers[handle] = { ...operator, kind: 'agent', id: agent.id, identity: agent.handle, keyId: `key of ${handle}` }
  }
  // Of a crowd nobody asks in which order it came.
  if (handles.length > 100) await Promise.all(handles.map(enrol))
  else for (const handle of handles) await enrol(handle)
  return {
    clock,
    db,
    context,
    /** The context of a gateway with these limits, that has read nothing from the store. */
    limited: (limits: MailLimits) => ({ ...context, limits, sends: new Sends({ ...core, limits }) }),
    directory: directory.path,
    caller: (handle: string): Caller => callers[handle]!,
    enter(handle: string, surface: string, id = `session-${handle}`) {
      sessions.set(callers[handle]!.id, { id, surface })
    },
    send: (from: string, input: MailInput) => sendMail(context, callers[from]!, input),
    async [Symbol.asyncDispose]() {
      await db.close()
      directory[Symbol.dispose]()
    },
  }
}
