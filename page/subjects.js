import { get, readable } from './api.js'

// The subject of a task or an event never changes, so it is read once.
const known = new Map()
const events = new Map()
const keptMax = 5_000
const atOnce = 30
const runsMax = 6
const runMax = 200

/** The subject of a task: the first line of its first message. undefined: nobody has read it yet. */
export const subjectOf = (taskId) => known.get(taskId)

function learn(taskId, text) {
  if (known.size >= keptMax) known.delete(known.keys().next().value)
  known.set(taskId, text.split('\n').find((one) => one.trim() !== '') ?? '')
}

const textOf = (message) => message?.parts?.find(({ text }) => text)?.text ?? ''

/** Takes what a list has of a task: its first message is there while it has no more than one besides that of its state. */
export function learnTask({ id, history = [], messageCount, status }) {
  const whole = history.length + (status.message ? 1 : 0)
  if (!known.has(id) && history.length > 0 && messageCount <= whole) learn(id, textOf(history[0]))
}

/** Reads the subjects of tasks that are not known yet, so many at a time; the others follow with the next reading. */
export async function readSubjects(ids) {
  const missing = [...new Set(ids)].filter((id) => id && !known.has(id)).slice(0, atOnce)
  await Promise.all(
    missing.map(async (id) => {
      const { messages } = await readable(get(`/v1/tasks/${encodeURIComponent(id)}/messages`, { limit: 1 }), {
        messages: [],
      })
      learn(id, textOf(messages[0]))
    }),
  )
}

/** Takes an event of the log: what it is about, for rows that name only its logId. */
export function hear({ logId, type, taskId, data }) {
  if (taskId && data.messageId === `MESSAGE:${taskId}` && data.subject && !known.has(taskId))
    learn(taskId, data.subject)
  if (events.size >= keptMax) events.delete(events.keys().next().value)
  events.set(logId, { type, taskId, messageId: data.messageId, threadId: data.threadId, subject: data.subject })
}

export const eventOf = (logId) => events.get(logId)

/** Reads the events with these logIds that are not known yet, in runs of neighbours. What is no longer kept stays unknown. */
export async function readEvents(logIds) {
  const missing = [...new Set(logIds)].filter((id) => !events.has(id)).sort((one, other) => one - other)
  const runs = []
  for (const id of missing) {
    const last = runs.at(-1)
    if (last && id - last.from < runMax) last.to = id
    else runs.push({ from: id, to: id })
  }
  await Promise.all(
    runs.slice(-runsMax).map(async ({ from, to }) => {
      const page = await get('/v1/events', { since: from - 1, limit: to - from + 1 }).catch((error) => {
        // These events are older than the log.
        if (error.status === 400 || error.status === 409 || error.status === 410) return { events: [] }
        throw error
      })
      for (const event of page.events) hear(event)
    }),
  )
  const ids = logIds.map((id) => events.get(id)?.taskId)
  await readSubjects(ids)
}

/** Forgets what one reader has seen before the next one signs in. */
export function forget() {
  known.clear()
  events.clear()
}
