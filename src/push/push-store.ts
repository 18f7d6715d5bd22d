import { int, type NounOf, nullable, type RowOf, text } from '../storage/columns.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { RowTable } from '../storage/row-table.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

const fields = {
  id: text,
  projectId: text,
  keyId: text,
  endpoint: text,
  /** The public key of the browser, in base64url. */
  p256dh: text,
  /** The secret that it shares with whoever sends to it, in base64url. */
  auth: text,
  label: nullable(text),
  /** null: never. */
  expiresAt: nullable(int),
  cursorLogId: int,
  dueAt: int,
  tries: int,
  createdAt: int,
}
/** Where the browser of an operator takes notifications. Instants in ms since the epoch. */
export type PushDevice = NounOf<typeof fields>
type Row = RowOf<typeof fields>

const devices = new RowTable('push_subscription', fields)
const { columns } = devices
// The same browser, perhaps with another key of its operator: what it has had is not sent again.
const insert = devices.insert(sql`on conflict (project_id, endpoint) do update set key_id = excluded.key_id,
  p256dh = excluded.p256dh, auth = excluded.auth, label = excluded.label, expires_at = excluded.expires_at returning id`)
const ofKey = statement<{ keyId: string }, Row>(
  sql`select ${columns} from push_subscription where key_id = ${p('keyId')} order by created_at, id`,
)
const count = statement<{ projectId: string }, { total: number }>(
  sql`select count(*) as total from push_subscription where project_id = ${p('projectId')}`,
)
const due = statement<{ projectId: string; now: number; limit: number }, Row>(
  sql`select ${columns} from push_subscription
    where project_id = ${p('projectId')} and due_at <= ${p('now')} order by endpoint ${limited}`,
)
const projects = statement<object, { projectId: string }>(
  sql`select distinct project_id as "projectId" from push_subscription`,
)
const claim = statement<{ id: string; known: number; until: number }>(
  sql`update push_subscription set due_at = ${p('until')} where id = ${p('id')} and due_at = ${p('known')}`,
)
const finish = statement<{ id: string; claimed: number; dueAt: number; cursorLogId: number; tries: number }>(
  sql`update push_subscription set due_at = ${p('dueAt')}, cursor_log_id = ${p('cursorLogId')}, tries = ${p('tries')}
    where id = ${p('id')} and due_at = ${p('claimed')}`,
)
const remove = statement<{ id: string; keyId: string }>(
  sql`delete from push_subscription where id = ${p('id')} and key_id = ${p('keyId')}`,
)
const removeAll = statement<{ keyId: string }>(sql`delete from push_subscription where key_id = ${p('keyId')}`)

/** Stores a device. Returns its id: of one that is known the id that it has. */
export async function saveDevice(tx: Transaction, device: PushDevice): Promise<string> {
  const row = (await tx.get(insert, devices.toRow(device))) as Pick<PushDevice, 'id'>
  return row.id
}

/** Returns the devices that were added with a key, the oldest first. */
export async function listDevices(db: Reader, keyId: string): Promise<PushDevice[]> {
  return (await db.all(ofKey, { keyId })).map(devices.fromRow)
}

export async function countDevices(db: Reader, projectId: string): Promise<number> {
  return (await db.get(count, { projectId }))?.total ?? 0
}

/** Returns devices to which something may be sent now. */
export async function listDueDevices(
  db: Reader,
  of: { readonly projectId: string; readonly now: number; readonly limit: number },
): Promise<PushDevice[]> {
  return (await db.all(due, of)).map(devices.fromRow)
}

/** Returns the projects that have devices. */
export async function listPushProjects(db: Reader): Promise<string[]> {
  return (await db.all(projects, {})).map(({ projectId }) => projectId)
}

/** Takes a device for a send. False: another gateway has taken it, or it was removed. */
export async function claimDevice(tx: Transaction, { id, dueAt: known }: PushDevice, until: number): Promise<boolean> {
  return (await tx.run(claim, { id, known, until })) === 1
}

/** Ends a send. Nothing changes where the claim was lost. */
export async function finishSend(
  tx: Transaction,
  sent: { readonly id: string; readonly claimed: number } & Pick<PushDevice, 'dueAt' | 'cursorLogId' | 'tries'>,
): Promise<void> {
  await tx.run(finish, sent)
}

/** False: the key has no such device. */
export async function removeDevice(tx: Transaction, id: string, keyId: string): Promise<boolean> {
  return (await tx.run(remove, { id, keyId })) === 1
}

export async function removeDevicesOfKey(tx: Transaction, keyId: string): Promise<void> {
  await tx.run(removeAll, { keyId })
}
