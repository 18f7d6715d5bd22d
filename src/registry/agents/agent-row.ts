import { int, json, nullable, text, word } from '../../storage/columns.ts'
import { RowTable } from '../../storage/row-table.ts'
import type { Access, ContactPolicy, WakePolicy } from '../../words/policies.ts'

/** One skill as an A2A agent card spells it (specification §4.4.5). */
export interface Skill {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly tags?: string[]
  readonly examples?: string[]
  readonly inputModes?: string[]
  readonly outputModes?: string[]
}

export const agentFields = {
  id: text,
  projectId: text,
  /** With the `@`: `@donna`. */
  handle: text,
  displayName: nullable(text),
  description: nullable(text),
  aliases: json<readonly string[]>(),
  skills: json<readonly Skill[]>(),
  inputModes: json<readonly string[]>(),
  outputModes: json<readonly string[]>(),
  access: word<Access>(),
  contactPolicy: word<ContactPolicy>(),
  defaultWakePolicy: word<WakePolicy>(),
  /** Grows by one with every change; the card shows it as its version. */
  version: int,
  createdAt: int,
  updatedAt: int,
}

export const agents = new RowTable('agent', agentFields)
