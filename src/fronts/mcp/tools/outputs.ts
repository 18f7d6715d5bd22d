import { z } from 'zod'

/** Mail as a tool shows it. Fields that are null are left out. */
export const shownMessage = z.looseObject({
  messageId: z.string(),
  threadId: z.string(),
  from: z.string().describe('The address of the sender, e.g. @donna'),
  subject: z.string(),
  body: z.string().optional(),
  type: z.string().optional(),
  signalType: z.string().optional(),
  payload: z.record(z.string(), z.unknown()).optional(),
  status: z
    .string()
    .optional()
    .describe('What you have reported: sent (nothing yet), seen, acked, resolved, superseded'),
  taskId: z.string().optional().describe('The mail is about this task: read it with get_task'),
  createdAt: z.string(),
})

/** A message of a task. */
const shownTaskMessage = z.looseObject({
  role: z.string().describe('ROLE_USER: who sent the task. ROLE_AGENT: who works on it'),
  text: z.string().optional(),
  parts: z.array(z.record(z.string(), z.unknown())).optional().describe('Files and data'),
})

/** A task as a tool shows it. */
export const shownTask = z.looseObject({
  id: z.string(),
  contextId: z.string(),
  version: z.int().describe('Give it as expectedVersion to move_task'),
  state: z.string(),
  originator: z.string().describe('Who sent it'),
  assignee: z.string().describe('Who works on it'),
  history: z.array(shownTaskMessage),
  messageCount: z.int().describe('Of all messages, also of those that history leaves out'),
  lastModifiedAt: z.string(),
})

export const shownArtifact = z.looseObject({
  artifactId: z.string().optional(),
  name: z.string().optional(),
  text: z.string().optional(),
  parts: z.array(z.record(z.string(), z.unknown())).optional(),
})

export const nextPageToken = z
  .string()
  .optional()
  .describe('There is more: call again with this as pageToken. Absent: this was all')

/** The fields that every result can have beside its own. Each tool repeats them, so they say no more than how to take them. Source: S2-8. */
export const everyResult = {
  pendingSignals: z
    .array(z.looseObject({}))
    .optional()
    .describe('Mail that waited, delivered with this result: act on it. signal_id is the messageId'),
  note: z.string().optional(),
  isCut: z.boolean().optional().describe('Something is left out: it was too long'),
}
