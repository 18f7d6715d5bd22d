import { get, Refused } from '../api.js'
import { linkTo } from '../router.js'
import { clockTime, counted, facts, line, plain, say, short, state, when } from '../show.js'
import { hear, readSubjects, subjectOf } from '../subjects.js'
import { html, nothing } from '../vendor/lit.js'
import { aboutOf } from './deliveries.js'
import { replay } from './mend.js'

const eventsMax = 50

export const title = (_, data) => (data ? plain(aboutOf(data.delivery)).slice(0, 200) : 'Delivery')

/** A page of deliveries begins before an event id: that of the id just after this one begins with it. */
const justAfter = (id) => id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) + 1)

export async function load({ id }) {
  const { deliveries } = await get('/v1/deliveries', { pageToken: justAfter(id), limit: 1 })
  const delivery = deliveries.find(({ eventId }) => eventId === id)
  if (!delivery) throw new Refused(404, { detail: 'No delivery has this id, or it is no longer kept.' })
  const [from, to] = [delivery.logIds[0], delivery.logIds.at(-1)]
  const { events, error } = await get('/v1/events', {
    since: from - 1,
    limit: Math.min(eventsMax, to - from + 1),
  }).catch(({ message }) => ({ events: [], error: message }))
  for (const event of events) hear(event)
  const sent = events.filter(({ logId }) => logId >= from && logId <= to)
  await readSubjects(sent.map(({ taskId }) => taskId))
  return { delivery, events: sent, error }
}

export function view({ delivery, events, error }, { act, may }) {
  const {
    eventId,
    eventType,
    agent,
    harnessTarget,
    url,
    subscriptionId,
    trigger,
    outcome,
    attempts,
    steps = [],
    eventCount,
    nextAttemptAt,
    createdAt,
  } = delivery
  return html`${facts([
    state(outcome),
    html`to <a href=${linkTo('agents', agent)}>${line(agent, 60)}</a>`,
    html`${harnessTarget} ${line(url, 200)}`,
    html`<a href=${linkTo('deliveries', undefined, { subscription: subscriptionId })}>${trigger} ${short(subscriptionId)}</a>`,
    html`${eventType} ${when(createdAt)}`,
    html`<code>${line(eventId)}</code>`,
  ])}
    ${may('manage') ? html`<p class="row"><button @click=${() => replay([delivery], act)}>Send it again…</button></p>` : nothing}
    <h2>Attempts</h2>
    ${
      attempts.length === 0
        ? html`<p class="dim">None yet.</p>`
        : html`<table><thead><tr><th scope="col">At</th><th scope="col">Answer</th><th scope="col" class="r">Took</th></tr></thead>
      <tbody>${attempts.map(({ at, status, error: why, durationMs }) => html`<tr><td>${clockTime(at)}</td><td>${line(why ?? status ?? 'written', 300)}</td><td class="r">${durationMs} ms</td></tr>`)}</tbody></table>`
    }
    ${nextAttemptAt ? html`<p>The next one is ${when(nextAttemptAt)}.</p>` : nothing}
    ${steps.length === 0 ? nothing : html`<h2>What its reader reported</h2><ol class="story">${steps.map(({ step, source, at, detail }) => html`<li><div class="head">${clockTime(at)} ${state(step)} ${line(source)} ${line(detail, 200)}</div></li>`)}</ol>`}
    <h2>What it carries</h2>
    <p class="dim">${counted(eventCount, 'event')}${eventCount > events.length && events.length > 0 ? `, here are ${events.length} from its part of the log` : ''}. The envelope of the wake is made when it is sent, and signed.</p>
    ${error ? html`<p class="failure">${line(error, 300)}</p>` : nothing}
    <ul class="plain">${events.map(eventCard)}</ul>`
}

const eventCard = ({
  logId,
  type,
  actor,
  taskId,
  data,
  createdAt,
}) => html`<li class="card"><p>${clockTime(createdAt)} <strong>${type}</strong> ${line(data.person ?? actor)} <span class="dim">${logId}</span>
    ${taskId ? html`<a href=${linkTo('tasks', taskId)}>${line(subjectOf(taskId) || `task ${short(taskId)}`, 120)}</a>` : data.threadId ? html`<a href=${linkTo('threads', data.threadId)}>${line(data.subject || 'Thread', 120)}</a>` : nothing}</p>
  <div class="code">${say(JSON.stringify(data, null, 2), 4_000)}</div></li>`
