import type { Sweep } from '../lib/sweeper.ts'
import type { Core } from '../log/core.ts'
import { gatewayIdentity, identityOf } from '../registry/agents/identity.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { EventType } from '../words/events.ts'
import type { Attempt, Channels } from './channel.ts'
import { testEmission } from './content/emission.ts'
import { nextProbeAt, probeStep } from './rules/probe-schedule.ts'
import { audienceOf } from './rules/signal-audience.ts'
import { findDueProbes, reviveProbed, scheduleProbe } from './store/probe-store.ts'

interface ProbeContext extends Core {
  readonly channels: Pick<Channels, 'a2a-webhook'>
  readonly random: () => number
  /** Notifies the engine, here and on the other gateways, that a subscription has changed. */
  readonly changed: (subscriptionId: string) => void
}

const everyMs = 5_000
const atOnce = 100
const goneStatus = 410

/**
 * Tries the receivers of degraded webhooks with a signed `wake/test`, ever more rarely. A 2xx is a sign of life: the subscription becomes
 * active, with one digest of what it missed. Source: D37.
 */
export function probeSweep(context: ProbeContext): Sweep {
  const { db, clock, random, log } = context
  return {
    name: 'degraded_webhooks',
    everyMs,
    async run(signal) {
      const due = await findDueProbes(db, clock.now(), atOnce)
      await Promise.all(due.map((subscription) => look(subscription, signal)))
      return false
    },
  }

  async function look(subscription: WakeSubscription, signal: AbortSignal): Promise<void> {
    const step = probeStep(subscription, clock.now(), random())
    if (step.next !== 'try') return scheduleProbe(db, subscription, step.next === 'wait' ? step.until : null)
    const attempt = await tryReceiver(subscription, signal)
    if (signal.aborted) return
    if (attempt?.status && attempt.status >= 200 && attempt.status < 300) return revive(subscription)
    const isGone = attempt?.status === goneStatus
    await scheduleProbe(db, subscription, isGone ? null : nextProbeAt(subscription, clock.now(), random()))
  }

  /** Returns undefined where no attempt could be made. */
  async function tryReceiver(subscription: WakeSubscription, signal: AbortSignal): Promise<Attempt | undefined> {
    const agentIdentity = await identityOf(db, subscription.agentId)
    const emission = testEmission(subscription, gatewayIdentity, clock.now())
    try {
      return await context.channels['a2a-webhook'].attempt({
        subscription,
        agentIdentity,
        emission,
        signal,
      })
    } catch (err) {
      log.debug({ err, subscriptionId: subscription.id }, 'wake.not_probed')
      return undefined
    }
  }

  async function revive(subscription: WakeSubscription): Promise<void> {
    const { id: subscriptionId, projectId, agentId, reason } = subscription
    const agent = await identityOf(db, agentId)
    const by = (type: EventType) => ({ type, actor: gatewayIdentity, audience: audienceOf(type, agentId) })
    await db.transaction(async (tx) => {
      if (!(await reviveProbed(tx, subscription))) return
      await context.append(tx, projectId, [
        { ...by('subscription.updated'), data: { subscriptionId, status: 'active' } },
        { ...by('subscription.recovered'), data: { subscriptionId, agent, reason } },
      ])
      tx.onCommit(() => {
        log.info({ subscriptionId, agent, reason }, 'subscription.recovered')
        context.changed(subscriptionId)
      })
    })
  }
}
