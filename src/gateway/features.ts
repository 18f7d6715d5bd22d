import { Usage } from '../admission/usage.ts'
import type { Config } from '../config/config.ts'
import { lookForFollower } from '../following/follow.ts'
import type { Cleanup } from '../lib/cleanup.ts'
import type { OwnClock } from '../lib/own-clock.ts'
import type { Core } from '../log/core.ts'
import type { LogNotifier } from '../log/log-notifier.ts'
import { drain } from '../mailbox/delivery/drain.ts'
import { MailWaits } from '../mailbox/delivery/mail-waits.ts'
import { strategies } from '../mailbox/delivery/strategies.ts'
import { Sends } from '../mailbox/limits/sends.ts'
import { createAnnounce } from '../mailbox/sending/announce.ts'
import { createHandoffMail } from '../mailbox/sending/handoff-mail.ts'
import { recordMail } from '../mailbox/sending/task-mail.ts'
import { RepeatedRequests } from '../registry/idempotency.ts'
import { listPresentAgents, newestLiveSession } from '../registry/sessions/session-lists.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Transaction } from '../storage/database.ts'
import { createTaskAssignment } from '../tasks/assignment.ts'
import type { ChallengeReceiver, Channels } from '../wakes/channel.ts'
import { announceWaitingTo } from '../wakes/store/announce-waiting.ts'
import { newSigningKey } from '../words/signature.ts'
import { findProof, findReason } from './reasons.ts'
import { hasWaiting } from './waiting.ts'

interface FeatureParts {
  readonly core: Core
  readonly notifier: LogNotifier
  readonly channels: Channels
  readonly challenge: ChallengeReceiver
  readonly secrets: SecretBox
  /** Errors: `invalid-request` for a URL that this gateway sends nothing to. */
  readonly checkUrl: (url: string, field: string) => URL
  readonly silenceUntil: OwnClock['silenceUntil']
  /** Called with the id of a subscription that has changed. */
  readonly changed: (subscriptionId: string) => void
}

/** Opens the features. Those that need each other meet here. */
export function openFeatures(
  { mail: limits, sessions, mcpEvents: { allowsHttp } }: Pick<Config, 'mail' | 'sessions' | 'mcpEvents'>,
  parts: FeatureParts,
  undo: Cleanup,
) {
  const { core, notifier, channels, challenge, secrets, checkUrl, silenceUntil, changed } = parts
  const usage = undo.use(new Usage(core))
  const sends = new Sends({ ...core, limits })
  const repeats = new RepeatedRequests()
  const findSession = newestLiveSession
  const mail = { ...core, notifier, limits, sends, usage, repeats, strategies, findSession }
  const tasks = { ...core, notifier, recordMail, secrets, checkUrl, usage, repeats, sends }
  return {
    tasks,
    approvals: { ...core, notifier },
    following: { ...tasks, followerWaits: new MailWaits(mail, lookForFollower) },
    mail,
    mailWaits: new MailWaits(mail),
    claims: {
      ...core,
      silenceUntil,
      usage,
      assignment: createTaskAssignment(core),
      sends,
      sendHandoffMail: createHandoffMail(mail),
    },
    recovery: { ...core, findReason, findProof, changed, announceWaiting: announceToAll },
    subscriptions: { ...core, secrets, channels, newSigningKey, checkUrl, allowsHttp, challenge, hasWaiting, changed },
    sessions: {
      ...core,
      silenceUntil,
      timeoutMs: sessions.timeoutMs,
      drain,
      announce: createAnnounce(core.append, listPresentAgents),
      hasWaiting,
      changed,
    },
  }
}

/** Notifies every target of an agent once of what waits. */
const announceToAll = (tx: Transaction, agentId: string): Promise<readonly string[]> =>
  announceWaitingTo(tx, agentId, { isBegunByWake: false })
