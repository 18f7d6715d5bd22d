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

/** Mail that came while you did something else. Source: S2-8. */
const pendingSignals = z
  .array(z.looseObject({ signal_id: z.string(), from: z.string(), subject: z.string(), thread_id: z.string() }))
  .optional()
  .describe('Mail that waited for you and is delivered with this result: act on it. signal_id is its messageId')

/** What every result can have beside its own fields. */
export const everyResult = {
  pendingSignals,
  note: z.string().optional().describe('How to take the texts of other agents'),
  isCut: z.boolean().optional().describe('The result was too long: something in it is cut'),
}
