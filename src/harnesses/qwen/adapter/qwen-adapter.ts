import { existsSync } from 'node:fs'
import { createConnection } from 'node:net'
import {
  type Adapter,
  type AdapterContext,
  type AdapterRow,
  bridgeStops,
  type HarnessSession,
  type Probe,
  type WakeEnd,
} from '../../../bridge/adapter.ts'
import type { ReportedConversation } from '../../../bridge/local/clients.ts'
import { processStart } from '../../../bridge/processes.ts'
import { readToken, tokenPlace } from './controller-token.ts'
import { authLine, userLine } from './frames.ts'
import { followMessage } from './message.ts'
import { ReceiptInbox } from './receipt-inbox.ts'
import { liveRecords, qwenHome, type SessionRecord } from './registry.ts'

/** A session that accepts the connection and does not read. It may still read later. */
const sendMsMax = 5_000

/** Sends a message to a session of Qwen Code, as a controller that its user trusts. Source: Qwen's cross-session protocol. */
export const qwenRow: AdapterRow = {
  id: 'qwen',
  title: 'Qwen Code',
  proves: ['written', 'held', 'delivered', 'turn_started', 'denied', 'refused', 'expired', 'misaddressed', 'dropped'],
  settings: {
    controllerTokenFile: {
      type: 'string',
      help: 'a file of mode 600 with the token that `qwen sessions controllers add` has printed',
    },
    controllerTokenVariable: { type: 'string', help: 'or the variable of the environment that holds it' },
    home: { type: 'string', help: 'the directory of Qwen Code (default: $QWEN_HOME, else ~/.qwen)' },
  },
  create: createQwenAdapter,
}

const busyRetryMs = 5_000
const unread = 'the session took the connection and did not read it'
const noInbox =
  'This session takes no messages: leave `agents.crossSessionMessaging` of Qwen Code on, and start the session again.'

function createQwenAdapter(context: AdapterContext): Adapter {
  const { env, settings, clients } = context
  const place = tokenPlace(settings)
  const home = qwenHome(env, settings.home as string | undefined)
  let inbox: Promise<ReceiptInbox> | undefined

  const openInbox = (): Promise<ReceiptInbox> => {
    inbox ??= ReceiptInbox.open(env)
    // One that could not be opened is tried again.
    inbox.catch(() => (inbox = undefined))
    return inbox
  }

  async function probe(): Promise<Probe> {
    const records = liveRecords(home)
    const token = readToken(place, env)
    const problem = 'problem' in token ? token.problem : undefined
    const isThere = existsSync(home)
    const version = records[0]?.version
    return {
      isThere,
      ...(version === undefined ? {} : { version }),
      sessions: records.map((record) => sessionOf(record, problem, reportedOf(record))),
      remarks: isThere && problem !== undefined ? [problem] : [],
    }
  }

  /** Returns the report of the hooks about a session, in the process that has it now. */
  function reportedOf({ pid, sessionId }: SessionRecord): ReportedConversation | undefined {
    return clients
      .reportedConversations('qwen')
      .find((reported) => reported.conversationId === sessionId && reported.process?.pid === pid)
  }

  return {
    probe,
    async wake(session, wake, tools): Promise<WakeEnd> {
      if (tools.signal.aborted) return bridgeStops
      const token = readToken(place, env)
      if ('problem' in token) return { step: 'failed', detail: token.problem }
      // `/clear` and `/resume` change the session under the same process.
      const record = recordOf(session, home)
      if (!record)
        return { step: 'misaddressed', detail: 'the session has ended, or its process has begun another one' }
      if (record.ipcPath === undefined) return { step: 'failed', detail: noInbox }
      const receipts = await openInbox()
      await tools.handingOver('controller')
      // The session repeats its verdict on an id that it knows, and acts once: the id of the wake is that of the message.
      const { path: from, token: replyToken } = receipts
      const frame = { msgId: wake.id, toSessionId: record.sessionId, content: wake.lines, from, replyToken }
      const sent = await sendLines(record.ipcPath, `${authLine(token.token)}${userLine(frame)}`)
      if (sent === 'gone') return { step: 'misaddressed', detail: 'nobody listens at the address of the session' }
      if (sent === 'busy')
        return {
          step: 'held',
          detail: 'the session takes no connection now',
          reason: 'cannot_start_turn',
          retryAfterMs: busyRetryMs,
        }
      if (sent === 'sent') tools.report('written', 'the session has closed the connection after it')
      const end = await followMessage(wake.id, { inbox: receipts, clients, tools })
      return sent === 'unknown' && end.step === 'written' ? { step: 'unknown', detail: unread } : end
    },
    /** The session acts once on an id, so what may have been lost is sent again: to the same process, which remembers. */
    async find(session, wakeId) {
      if (await clients.reported(wakeId, ({ step }) => step === 'turn_started', AbortSignal.abort()))
        return 'turn_started'
      return recordOf(session, home) ? 'absent' : 'unknown'
    },
    async [Symbol.asyncDispose]() {
      await (await inbox?.catch(() => undefined))?.[Symbol.asyncDispose]()
    },
  }
}

/** The session, if its process still has it. */
function recordOf({ conversationId, process }: HarnessSession, home: string): SessionRecord | undefined {
  return liveRecords(home).find(({ pid, sessionId }) => pid === process?.pid && sessionId === conversationId)
}

function sessionOf(
  record: SessionRecord,
  problem: string | undefined,
  reported: ReportedConversation | undefined,
): HarnessSession {
  const { pid, sessionId, cwd, ipcPath } = record
  const startedAt = processStart(pid)?.startedAt
  const remark = ipcPath === undefined ? noInbox : problem
  return {
    harness: 'qwen',
    conversationId: sessionId,
    cwd,
    process: { pid, ...(startedAt === undefined ? {} : { startedAt }) },
    state: reported?.state ?? 'unknown',
    ...(reported?.activeTurnId === undefined ? {} : { activeTurnId: reported.activeTurnId }),
    ...(remark === undefined ? { route: 'controller' } : { remark }),
  }
}

/** `gone`: nothing listens; `busy`: the session runs and accepts no connection now; `unknown`: it may still read the message. */
type SendOutcome = 'sent' | 'gone' | 'busy' | 'unknown'

/**
 * Writes lines to a session, and waits until it closes the connection: it never answers on it, not even to a wrong token. Never rejects.
 */
function sendLines(path: string, lines: string): Promise<SendOutcome> {
  return new Promise((resolve) => {
    let isConnected = false
    const socket = createConnection({ path })
    const end = (sent: SendOutcome): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(sent)
    }
    const timer = setTimeout(() => end(isConnected ? 'unknown' : 'busy'), sendMsMax)
    socket.once('connect', () => {
      isConnected = true
      socket.end(lines)
    })
    // Nothing comes, but its end is noticed only by who reads.
    socket.resume()
    socket.once('close', () => end('sent'))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (isConnected) end('unknown')
      else end(code === 'EAGAIN' || code === 'EBUSY' ? 'busy' : 'gone')
    })
  })
}
