import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Reader } from '../storage/database.ts'
import { findMessage } from './messages/message-store.ts'
import { type AgentRecipient, listRecipients } from './messages/recipient-store.ts'

/** More than a broadcast has. */
const recipientsMax = 100_000
/** How many messages are in memory at a time. */
const chunk = 20
const newline = '\n'

/** Where mail goes that is too old for the store. */
export interface MailArchive {
  /** Keeps messages, with what each recipient did. Resolves when they are on the disk. */
  keep(db: Reader, messageIds: readonly string[]): Promise<void>
}

/**
 * Archives mail as lines of JSON in a directory, one file for each month in which the mail was sent: `mail-2026-10.jsonl`. After a
 * crash a message may be there twice, with the same id. Without a directory nothing is archived. Source: S2-19.
 */
export function openMailArchive(path: string | undefined): MailArchive | undefined {
  if (path === undefined) return undefined
  const directory = resolve(path)
  return {
    async keep(db, messageIds) {
      for (let at = 0; at < messageIds.length; at += chunk) {
        const lines = await linesByFile(db, messageIds.slice(at, at + chunk))
        for (const [name, text] of lines) await append(directory, name, text)
      }
    },
  }
}

async function linesByFile(db: Reader, messageIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const lines = new Map<string, string>()
  for (const id of messageIds) {
    const message = await findMessage(db, id)
    if (!message) continue
    const recipients = (await listRecipients(db, id, recipientsMax)).map(archived)
    const name = `mail-${new Date(message.createdAt).toISOString().slice(0, 7)}.jsonl`
    lines.set(name, `${lines.get(name) ?? ''}${JSON.stringify({ ...message, recipients })}${newline}`)
  }
  return lines
}

/** A row as it is kept: its evidence as an object, where there is any. */
function archived({ projectId: _, wake, ...row }: AgentRecipient): object {
  return wake === null ? row : { ...row, wake: JSON.parse(wake) }
}

async function append(directory: string, name: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const file = await open(join(directory, name), 'a+', 0o600)
  try {
    await file.appendFile((await endsInLine(file)) ? newline + text : text)
    await file.datasync()
  } finally {
    await file.close()
  }
}

/** True when a crash has left half a line. */
async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat()
  if (size === 0) return false
  const { buffer } = await file.read({ buffer: Buffer.alloc(1), position: size - 1 })
  return buffer.toString() !== newline
}
