import { get, pages, readable } from '../api.js'
import { linkTo } from '../router.js'
import { clockTime, line, parts, short, state, when } from '../show.js'
import { html, nothing } from '../vendor/lit.js'
import { answerTask, cancelTask } from './answers.js'
import { attemptList } from './deliveries.js'

export const title = ({ id }) => `Task ${short(id)}`

export async function load({ id }) {
  const path = `/v1/tasks/${encodeURIComponent(id)}`
  const task = await get(path, { historyLength: 0 })
  const parties = [...new Set([task.assignee, task.originator])].filter(
    (name) => name !== '@operator' && !name.includes(':'),
  )
  const [messages, { pieces }, { events }, ...wakes] = await Promise.all([
    pages(`${path}/messages`, { limit: 500 }, 'messages'),
    get(`${path}/artifacts`, { limit: 200 }),
    readable(get('/v1/events', { task: id, limit: 1000 }), { events: [] }),
    ...parties.map((agent) => readable(get('/v1/deliveries', { agent, limit: 200 }), { deliveries: [] })),
  ])
  return { task, entries: storyOf({ messages, pieces, events, wakes: wakes.flatMap(({ deliveries }) => deliveries) }) }
}

/** Everything that happened to a task, in the order in which it happened. */
export function storyOf({ messages, pieces, events, wakes }) {
  const said = new Set(events.map(({ data }) => data.statusMessageSeq).filter(Boolean))
  const sent = messages.filter((_, at) => !said.has(at + 1))
  const added = [...pieces]
  const entries = events.map(({ logId, type, actor, data, createdAt }) => ({
    at: createdAt,
    logId,
    actor,
    type,
    data,
    message: type === 'message.sent' ? sent.shift() : messages[data.statusMessageSeq - 1],
    artifact: type === 'task.artifact_added' ? added.shift()?.artifact : undefined,
  }))
  // Of a task whose events are no longer kept.
  const at = events[0]?.createdAt ?? ''
  const rest = [
    ...sent.map((message) => ({ at, actor: message.role, type: 'message', message })),
    ...added.map(({ artifact }) => ({ at, actor: '', type: 'artifact', artifact })),
  ]
  const ids = events.map(({ logId }) => logId)
  const ofTask = wakes.filter(({ logIds }) => ids.some((id) => id >= logIds[0] && id <= logIds.at(-1)))
  const woken = ofTask.map((wake) => ({ at: wake.updatedAt, type: 'wake', wake }))
  return [...rest, ...entries, ...woken].sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0))
}

export function view({ task, entries }, tools) {
  const { state: now, originator, assignee, agent, version, createdAt, priority, reason, expiresAt } = task
  const need = { taskId: task.id, version, sentTo: agent }
  const isOpen = !['completed', 'failed', 'canceled', 'rejected'].includes(now)
  return html`<div class="card"><p>${state(now)} version ${version} · ${party(originator)} → ${party(assignee)} · ${priority} · begun ${when(createdAt)}
      ${reason ? html`· ${line(reason)}` : nothing} ${expiresAt ? html`· expires ${when(expiresAt)}` : nothing}</p>
      <p class="dim">${line(task.id)}</p>
    ${now.endsWith('-required') ? answerTask(need, tools, 'Your answer', 'Answer') : isOpen && tools.may('work') ? html`<button class="danger" @click=${() => cancelTask(task.id, version, tools.act)}>Cancel the task</button>` : nothing}</div>
    <h2>What happened</h2>
    <ol class="story">${entries.map(entry)}</ol>`
}

const party = (name) =>
  name === '@operator' || name.includes(':') ? line(name) : html`<a href=${linkTo('agents', name)}>${line(name)}</a>`

function entry({ at, type, actor, data, message, artifact, wake }) {
  return html`<li class=${wake ? 'wake' : ''}><div class="dim">${at ? clockTime(at) : nothing} ${wake ? wakeHead(wake) : html`${line(actor)} ${words(type, data)}`}</div>
    ${message ? parts(message.parts) : nothing}
    ${artifact ? html`<div><strong>${line(artifact.name ?? 'artifact')}</strong></div>${parts(artifact.parts)}` : nothing}
    ${wake ? wakeSteps(wake) : nothing}</li>`
}

function words(type, data) {
  if (type === 'task.state_changed')
    return html`${data.previousState ? html`${state(data.previousState)} → ` : nothing}${state(data.newState)} version ${data.version}`
  if (type === 'message.sent') return 'wrote'
  if (type === 'task.artifact_added') return 'added an artifact'
  return type
}

const wakeHead = ({ agent, harnessTarget, url, outcome }) =>
  html`wake to ${line(agent)} by ${harnessTarget} ${line(url, 80)} ${state(outcome)}`

const wakeSteps = ({
  attempts,
  steps = [],
}) => html`${attempts.length > 0 ? html`<div>Attempts ${attemptList(attempts)}</div>` : nothing}
  ${steps.map(({ step, source, at, detail }) => html`<div>${clockTime(at)} ${state(step)} <span class="dim">${line(source)} ${line(detail)}</span></div>`)}`
