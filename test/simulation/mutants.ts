/** A fault that somebody could make: in a file of `src`, texts and what replaces each. */
export interface Mutant {
  readonly name: string
  readonly file: string
  readonly changes: readonly (readonly [is: string, becomes: string])[]
}

const mutant = (name: string, file: string, ...texts: string[]): Mutant => ({
  name,
  file,
  changes: texts.flatMap((is, at) => (at % 2 === 0 ? [[is, texts[at + 1]!] as const] : [])),
})
const rules = 'turns/rules-of-recovery.ts'
const never = 'when: () => false'

export const mutants: readonly Mutant[] = [
  // the dispatcher and its leases
  mutant(
    'the dispatcher spins after a park',
    'wakes/store/lease-store.ts',
    "case when parked_until > ${p('dueAt')} then parked_until else cast(${p('dueAt')} as bigint) end",
    "cast(${p('dueAt')} as bigint)",
    'and ${condition} and ${isOurs} and ${isNotParked} and ${isLiving}`,\n  )\nconst nextDue ',
    'and ${condition} and ${isOurs} and ${isLiving}`,\n  )\nconst nextDue ',
  ),
  mutant(
    'a park that what is due does not know',
    'wakes/store/lease-store.ts',
    `\${isOurs} and \${isNotParked} and \${isLiving} order by`,
    `\${isOurs} and \${isLiving} order by`,
  ),
  mutant(
    'a run that a park does not stop',
    'recovery/parking.ts',
    'tx.onCommit(() => ids.forEach(context.changed))\n    const about',
    'const about',
  ),
  mutant(
    'a run that begins before the last one has ended',
    'wakes/run/dispatcher.ts',
    '(before?.done ?? Promise.resolve()).then',
    'Promise.resolve().then',
  ),
  mutant(
    'a lease that is never given back',
    'wakes/store/lease-store.ts',
    "lease_owner = null where id = ${p('id')}",
    "due_at = null where id = ${p('id')}",
  ),
  mutant(
    'a run that a change does not end',
    'wakes/run/dispatcher.ts',
    'this.#runs.get(subscriptionId)?.controller.abort()',
    '',
  ),
  mutant(
    'a change between a lease and its run',
    'wakes/run/dispatcher.ts',
    'if (this.#interrupted.has(subscription.id)) this.interrupt(subscription.id)',
    '',
  ),
  // several gateways
  mutant('a gateway that is taken for dead too soon', 'cluster/gateway-store.ts', 'deadMs = 20_000', 'deadMs = 2_000'),
  mutant(
    'a lost lease that moves the cursor',
    'wakes/store/lease-progress.ts',
    'and lease_owner = v.column2 returning id, lease_owner as',
    'returning id, lease_owner as',
  ),
  // wakes
  mutant(
    'an answer that comes after a pause and is forgotten',
    'wakes/run/recorder.ts',
    'if (lost.length > 0)',
    'if (false)',
  ),
  mutant(
    'a failed wake that is not recorded',
    'wakes/run/record-failure.ts',
    'await saveDelivery(tx, { subscriptionId, emission, attempts: result.attempts }, step.outcome)',
    '',
  ),
  mutant(
    'a refusal that counts as an arrival',
    'webhooks/retry-policy.ts',
    "judge(outcome).rule === 'delivered'",
    "judge(outcome).rule === 'delivered' || 'status' in outcome",
  ),
  mutant(
    'a wake that nothing records',
    'wakes/run/recorder.ts',
    'await Promise.all([saveArrived(tx, wakes), this.#onDelivered(tx, delivered)])',
    'await this.#onDelivered(tx, delivered)',
  ),
  mutant('a wake that its mail does not know', 'wakes/run/recorder.ts', ', this.#onDelivered(tx, delivered)])', '])'),
  mutant('an acknowledgement that the store refused', 'wakes/run/dispatcher.ts', 'await recorder.retried()', ''),
  // the store
  mutant(
    'an answer before its commit is on the disk',
    'storage/sqlite/group-commit.ts',
    'await this.#disk.flush()',
    'await Promise.resolve(void this.#disk.flush().catch(() => {}))',
  ),
  mutant(
    'what a failed writer wrote',
    'storage/sqlite/group-commit.ts',
    'connection.changes !== changesBefore ? undefined',
    'false ? undefined',
  ),
  mutant(
    'a disk that fails and is trusted',
    'storage/sqlite/group-commit.ts',
    'if (this.#failure) result.writer.reject(this.#failure)',
    'if (false) result.writer.reject(this.#failure!)',
  ),
  mutant(
    'two counts of the log for one event',
    'log/event-store.ts',
    "log_head = log_head + ${p('count')}",
    "log_head = log_head + 1 + ${p('count')}",
  ),
  // keyed calls
  mutant(
    'a keyed call that is carried out twice',
    'fronts/rest/repeated-call.ts',
    'asCall(context.db, act, (tx) => endCall(tx, keyed, stored))',
    'asCall(context.db, act)',
  ),
  mutant(
    'a keyed call that is not remembered',
    'fronts/rest/repeated-call.ts',
    'if (first !== undefined) return replay(keyed, first, reply)',
    '',
  ),
  mutant(
    'a keyed message that is sent twice',
    'mailbox/sending/send-mail.ts',
    'if (idempotency) await keepResult(tx, keyOwner(caller), mailScope, idempotency, id)',
    '',
  ),
  // tasks and claims
  mutant('a move of a version that is over', 'tasks/move-task.ts', 'task.version !== expectedVersion', 'false'),
  mutant('a claim that anybody takes over', 'claims/claim.ts', '6 * 60 * 60 * 1000', '1000'),
  // recovery, gates and caps
  mutant('a nudge past the gate', rules, "when: ({ gate }) => gate.nudges === 'disabled'", never),
  mutant(
    'a pulse past the gate',
    rules,
    "when: ({ gate }) => gate.nudges === 'disabled'",
    "when: ({ gate, route }) => !!route?.isProven && gate.nudges === 'disabled'",
  ),
  mutant('a restart past the gate', rules, "when: ({ gate }) => gate.restarts === 'disabled'", never),
  mutant('two acts of recovery at a time', rules, 'when: ({ recovery }) => recovery.inFlight !== null', never),
  mutant(
    'a restart that worked and is abandoned',
    'recovery/decide.ts',
    '[session, former, ...earlier].some(',
    '[former].slice(1).some(',
  ),
  mutant(
    'an order that is given twice',
    'recovery/acts.ts',
    'if (recovery.inFlight!.begunAt !== null) throw staleEpoch(recovery)',
    '',
  ),
  mutant(
    'a cap that the account does not know',
    'turns/turn-store.ts',
    'return insertWakes.run(tx, rows)',
    'return rows.length > 99 ? insertWakes.run(tx, rows) : Promise.resolve()',
  ),
  mutant(
    'a cap that a run has not read',
    'recovery/change-gate.ts',
    'tx.onCommit(() => running.forEach(changed))',
    'void running',
  ),
  // needs
  mutant('a need that nobody is told of', 'needs/need-sweep.ts', 'return raisedEvent(need)', 'return undefined'),
  mutant(
    'a need that is lost in a crowd',
    'needs/need-sweep.ts',
    '.slice(0, noticesMax)',
    '.slice(0, 1 - noticesMax + 499)',
  ),
]
