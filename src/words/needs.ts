/** The act of the agent of a need, after its name: `@donna asks`. */
export const needActs = {
  input: 'asks',
  auth: 'needs a sign-in or a permission',
  approval: 'waits for an approval',
  mail: 'wrote to the operator',
  failing: 'was not woken: an event failed',
  retrying: 'cannot be reached, and is tried again',
  degraded: 'is no longer woken',
  gate: 'is no longer helped by recovery',
  parked: 'is at a limit',
  capped: 'has had as many turns as it may',
  late: 'has not taken up a task',
  key: 'has a key that ends soon',
} as const
