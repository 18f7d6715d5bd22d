/** The triggers of an agent's subscription. Source: S1-43; `MESSAGE_STATUS_CHANGED` is from S4-6, `WAKE_RECEIPT` is ours. */
export const agentTriggers = [
  'SENT_TO_ME',
  'TASK_STATE_CHANGED',
  'PERMISSION_GRANTED',
  'MESSAGE_STATUS_CHANGED',
  'WAKE_RECEIPT',
] as const
/** The triggers of signals from the engine and from recovery: to the operator of a project, and to the agent that it is about. */
export const signalTriggers = [
  'SUBSCRIPTION_DEGRADED',
  'SUBSCRIPTION_RECOVERED',
  'WAKE_FAILED',
  'SIGNING_KEY_ROTATED',
  'RECOVERY_CHANGED',
  'GATE_CHANGED',
] as const
/** The triggers of operators alone. */
export const operatorTriggers = ['NEED_CHANGED'] as const
export const triggers = [...agentTriggers, ...signalTriggers, ...operatorTriggers] as const
export type Trigger = (typeof triggers)[number]

/** Every event type of the log with the trigger that it fires, or null. */
export const eventTypes = {
  'message.sent': 'SENT_TO_ME',
  'message.seen': 'MESSAGE_STATUS_CHANGED',
  'message.acked': 'MESSAGE_STATUS_CHANGED',
  'message.resolved': 'MESSAGE_STATUS_CHANGED',
  'message.superseded': 'MESSAGE_STATUS_CHANGED',
  'mail.rate_limited': null,
  'mail.storm_tripped': null,
  'task.state_changed': 'TASK_STATE_CHANGED',
  'task.artifact_added': null,
  'permission.granted': 'PERMISSION_GRANTED',
  'permission.revoked': null,
  'project.created': null,
  'project.updated': null,
  'agent.created': null,
  'agent.updated': null,
  'agent.deleted': null,
  'claim.taken': null,
  'claim.taken_over': null,
  'claim.released': null,
  'claim.handed_off': null,
  'key.created': null,
  'key.revoked': null,
  'peer.joined': null,
  'peer.left': null,
  'master.preempted': null,
  'push_config.created': null,
  'push_config.deleted': null,
  'subscription.created': null,
  'subscription.updated': null,
  'subscription.removed': null,
  'subscription.degraded': 'SUBSCRIPTION_DEGRADED',
  'subscription.recovered': 'SUBSCRIPTION_RECOVERED',
  'subscription.key_rotated': 'SIGNING_KEY_ROTATED',
  'subscription.resynced': null,
  'subscription.replayed': null,
  'wake.reported': 'WAKE_RECEIPT',
  'wake.failed': 'WAKE_FAILED',
  // Wakes without mail, of the gateway itself. Source: S1-30.
  'heartbeat.pulse': 'SENT_TO_ME',
  'recovery.ordered': 'RECOVERY_CHANGED',
  'recovery.ended': 'RECOVERY_CHANGED',
  'recovery.deferred': 'RECOVERY_CHANGED',
  'recovery.parked': 'RECOVERY_CHANGED',
  'recovery.unparked': 'RECOVERY_CHANGED',
  'gate.changed': 'GATE_CHANGED',
  'approval.asked': null,
  'approval.closed': null,
  'need.raised': 'NEED_CHANGED',
  'need.cleared': 'NEED_CHANGED',
} as const satisfies Record<string, Trigger | null>

export type EventType = keyof typeof eventTypes
