import { get, pages, readable } from '../api.js'
import { filterBy, linkTo } from '../router.js'
import { age, chip, line, short, state, when } from '../show.js'
import { eventOf, readEvents, subjectOf } from '../subjects.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { searchField, sifted } from './list.js'
import { pause, reactivate, replay } from './mend.js'

export const title = 'Deliveries'

const keyOf = ({ subscriptionId, eventId }) => `${subscriptionId} ${eventId}`
const chosen = new Set()

export async function load({ query }) {
  const { agent, subscription, outcome, after, before, page } = query
  const [answer, subscriptions] = await Promise.all([
    get('/v1/deliveries', {
      agent,
      subscription,
      outcome,
      endedAfter: instant(after),
      endedBefore: instant(before),
      limit: 50,
      pageToken: page,
    }),
    readable(pages('/v1/wake-subscriptions', { limit: 500 }, 'subscriptions', 2), { items: [] }),
  ])
  await nameEvents(answer.deliveries)
  const known = new Set(answer.deliveries.map(keyOf))
  for (const key of chosen) if (!known.has(key)) chosen.delete(key)
  return { ...answer, status: new Map(subscriptions.items.map((one) => [one.subscriptionId, one.status])) }
}

export const isUnsettled = ({ deliveries }) => deliveries.some(({ outcome }) => outcome === 'pending')

/** Reads what the wakes are about. */
export const nameEvents = (deliveries) => readable(readEvents(deliveries.map(({ logIds }) => logIds.at(-1))))

/** The browser's field has the local time. */
const instant = (local) => (local ? new Date(local).toISOString() : undefined)

export function view({ deliveries, nextPageToken, status }, tools) {
  const { q = '', page } = tools.query
  const shown = deliveries.filter((one) =>
    sifted(q, aboutOf(one), one.agent, one.url, one.harnessTarget, one.outcome, one.eventId),
  )
  return html`${filters(tools.query)}
    ${tools.may('manage') ? acts(shown, tools) : nothing}
    ${deliveryTable(shown, { status, ...tools })}
    <p class="row">${page ? html`<button @click=${() => filterBy({ page: undefined })}>Back to the newest</button>` : nothing}
      ${nextPageToken ? html`<button @click=${() => filterBy({ page: nextPageToken })}>Look further back</button>` : nothing}</p>
    <p class="dim">One row is one wake: an event or a digest, with all its attempts. A wake that is sent again is a row of its own.</p>`
}

const outcomes = [
  ['', 'all'],
  ['failed', 'failed only'],
  ['retrying', 'being tried again'],
  ['pending', 'open'],
  ['delivered', 'delivered'],
  ['written', 'written'],
]

function filters({ outcome = '', agent = '', subscription = '', after = '', before = '', q = '' }) {
  const set = ({ target }) => target.name && filterBy({ [target.name]: target.value.trim(), page: undefined })
  return html`<form class="row bar" @submit=${(event) => event.preventDefault()} @change=${set}>
    ${searchField(q, 'Search these wakes')}
    <label>Outcome<select name="outcome">${outcomes.map(([value, word]) => html`<option value=${value} ?selected=${value === outcome}>${word}</option>`)}</select></label>
    <label>Agent<input name="agent" .value=${agent} placeholder="@donna" autocomplete="off" spellcheck="false" size="12"></label>
    <details class="drop" ?open=${Boolean(after || before)}><summary>Time</summary><div class="row">
      <label>Ended after<input type="datetime-local" name="after" .value=${after}></label>
      <label>Ended before<input type="datetime-local" name="before" .value=${before}></label></div></details>
    ${subscription ? html`<button type="button" @click=${() => filterBy({ subscription: undefined })}>Only ${short(subscription)} ✕</button>` : nothing}</form>`
}

function acts(deliveries, { act, draw }) {
  const rows = deliveries.filter((one) => chosen.has(keyOf(one)))
  const ids = [...new Set(rows.map(({ subscriptionId }) => subscriptionId))]
  const none = rows.length === 0
  const all = () => {
    chosen.clear()
    if (none) for (const one of deliveries) chosen.add(keyOf(one))
    draw()
  }
  const rest = html`<button @click=${() => replay(rows, act)}>Send ${rows.length} again…</button>
    <button @click=${() => reactivate(ids, act)}>Reactivate ${ids.length}…</button>
    <button @click=${() => pause(ids, act)}>Pause ${ids.length}…</button>`
  return html`<div class="row" role="group" aria-label="With the chosen rows">
    <button @click=${all} ?disabled=${deliveries.length === 0}>${none ? 'Choose all' : 'Choose none'}</button>${none ? nothing : rest}</div>`
}

/** The matter of a wake: the subject of its newest event, or of the task of that. */
export function aboutOf({ logIds, eventCount, eventType }) {
  const { subject, taskId } = eventOf(logIds.at(-1)) ?? {}
  const about = subject || subjectOf(taskId) || eventType
  return eventCount > 1 ? `${about} and ${eventCount - 1} more` : about
}

/** Deliveries as rows. With `status` they can be chosen. */
export function deliveryTable(deliveries, { status, draw, may } = {}) {
  if (deliveries.length === 0) return html`<p class="empty">No deliveries here.</p>`
  const canChoose = status !== undefined && may('manage')
  return html`<table class="wide deliveries"><thead><tr>${canChoose ? html`<th scope="col"><span class="hidden">Chosen</span></th>` : nothing}
      <th scope="col">Wake</th><th scope="col">To</th><th scope="col">Outcome</th><th scope="col" class="r">Ended</th></tr></thead>
    <tbody>${repeat(deliveries, keyOf, (one) => row(one, { status, draw, canChoose }))}</tbody></table>`
}

function row(one, { status, draw, canChoose }) {
  const { agent, harnessTarget, url, subscriptionId, eventId, outcome, step, attempts, nextAttemptAt, updatedAt } = one
  const about = aboutOf(one)
  const choose = ({ target }) => {
    if (target.checked) chosen.add(keyOf(one))
    else chosen.delete(keyOf(one))
    draw()
  }
  const now = status?.get(subscriptionId)
  return html`<tr>${canChoose ? html`<td class="pick"><input type="checkbox" aria-label="Choose ${about}" .checked=${chosen.has(keyOf(one))} @change=${choose}></td>` : nothing}
    <th scope="row"><a href=${linkTo('deliveries', eventId)}>${line(about, 120)}</a></th>
    <td>${line(agent, 40)} <small>${harnessTarget} ${line(url, 60)}</small>${now && now !== 'active' ? state(now) : nothing}</td>
    <td>${state(outcome)}${step && step !== outcome ? chip(step) : nothing} ${attempts.length > 0 ? html`<small>${attemptWords(attempts)}</small>` : nothing}</td>
    <td class="r">${outcome === 'pending' ? (nextAttemptAt ? html`next ${when(nextAttemptAt)}` : 'open') : age(updatedAt)}</td></tr>`
}

/** Attempts as they were made: `503, 503, 200 · 12 ms`. */
function attemptWords(attempts) {
  const words = attempts.map(({ status, error }) => error ?? status ?? 'written')
  return html`${line(words.join(', '), 60)} · ${attempts.at(-1).durationMs}\u00a0ms`
}
