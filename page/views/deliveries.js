import { get, pages, readable } from '../api.js'
import { filterBy, linkTo } from '../router.js'
import { chip, line, short, state, when } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'
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
    readable(pages('/v1/wake-subscriptions', { limit: 500 }, 'subscriptions', 2), []),
  ])
  const known = new Set(answer.deliveries.map(keyOf))
  for (const key of chosen) if (!known.has(key)) chosen.delete(key)
  return { ...answer, status: new Map(subscriptions.map((one) => [one.subscriptionId, one.status])) }
}

/** The browser's field has the local time. */
const instant = (local) => (local ? new Date(local).toISOString() : undefined)

export function view({ deliveries, nextPageToken, status }, tools) {
  return html`${filters(tools.query)}
    <p class="dim">One row is one wake: an event or a digest, with all its attempts. A wake that is sent again is a row of its own.</p>
    ${tools.may('manage') ? acts(deliveries, tools) : nothing}
    ${deliveryTable(deliveries, { status, ...tools })}
    ${nextPageToken ? html`<p><button @click=${() => filterBy({ page: nextPageToken })}>Look further back</button></p>` : nothing}
    ${tools.query.page ? html`<p><button @click=${() => filterBy({ page: undefined })}>Back to the newest</button></p>` : nothing}`
}

const outcomes = [
  ['', 'all'],
  ['failed', 'failed only'],
  ['retrying', 'being tried again'],
  ['pending', 'open'],
  ['delivered', 'delivered'],
  ['written', 'written'],
]

function filters({ outcome = '', agent = '', subscription = '', after = '', before = '' }) {
  const set = ({ target }) => filterBy({ [target.name]: target.value.trim(), page: undefined })
  return html`<form class="row" @submit=${(event) => event.preventDefault()} @change=${set}>
    <label>Outcome<select name="outcome">${outcomes.map(([value, word]) => html`<option value=${value} ?selected=${value === outcome}>${word}</option>`)}</select></label>
    <label>Agent<input name="agent" .value=${agent} placeholder="@donna" autocomplete="off" spellcheck="false"></label>
    <label>Ended after<input type="datetime-local" name="after" .value=${after}></label>
    <label>Ended before<input type="datetime-local" name="before" .value=${before}></label>
    ${subscription ? html`<button type="button" @click=${() => filterBy({ subscription: undefined })}>Only ${short(subscription)} ✕</button>` : nothing}</form>`
}

function acts(deliveries, { act, reload }) {
  const rows = deliveries.filter((one) => chosen.has(keyOf(one)))
  const ids = [...new Set(rows.map(({ subscriptionId }) => subscriptionId))]
  const none = rows.length === 0
  const all = (isChosen) => () => {
    chosen.clear()
    if (isChosen) for (const one of deliveries) chosen.add(keyOf(one))
    reload()
  }
  return html`<div class="row" role="group" aria-label="With the chosen rows">
    <button @click=${all(none)} ?disabled=${deliveries.length === 0}>${none ? 'Choose all' : 'Choose none'}</button>
    <button ?disabled=${none} @click=${() => replay(rows, act)}>Send ${rows.length} again</button>
    <button ?disabled=${none} @click=${() => reactivate(ids, act)}>Reactivate ${ids.length}</button>
    <button ?disabled=${none} @click=${() => pause(ids, act)}>Pause ${ids.length}</button></div>`
}

/** Deliveries as rows. With `status` they can be chosen. */
export function deliveryTable(deliveries, { status, reload, may } = {}) {
  if (deliveries.length === 0) return html`<p class="empty">No deliveries here.</p>`
  const canChoose = status !== undefined && may('manage')
  return html`<table class="wide"><thead><tr>${canChoose ? html`<th scope="col"><span class="hidden">Chosen</span></th>` : nothing}
      <th scope="col">To</th><th scope="col">Wake</th><th scope="col">Outcome</th><th scope="col">Attempts</th><th scope="col">Ended</th></tr></thead>
    <tbody>${repeat(deliveries, keyOf, (one) => row(one, { status, reload, canChoose }))}</tbody></table>`
}

function row(one, { status, reload, canChoose }) {
  const {
    agent,
    harnessTarget,
    url,
    subscriptionId,
    eventType,
    eventId,
    logIds,
    eventCount,
    outcome,
    step,
    attempts,
    nextAttemptAt,
    updatedAt,
  } = one
  const choose = ({ target }) => {
    if (target.checked) chosen.add(keyOf(one))
    else chosen.delete(keyOf(one))
    reload()
  }
  const now = status?.get(subscriptionId)
  return html`<tr>${canChoose ? html`<td><input type="checkbox" aria-label="Choose ${eventId}" .checked=${chosen.has(keyOf(one))} @change=${choose}></td>` : nothing}
    <th scope="row"><a href=${linkTo('agents', agent)}>${line(agent, 40)}</a> <a class="dim" href=${linkTo('deliveries', undefined, { subscription: subscriptionId })}>${short(subscriptionId)}</a>
      ${now && now !== 'active' ? state(now) : nothing}<div class="dim">${harnessTarget} ${line(url, 80)}</div></th>
    <td data-label="Wake">${eventType} <span class="dim">log ${logIds.join('–')}${eventCount > 1 ? `, ${eventCount} events` : ''}</span></td>
    <td data-label="Outcome">${state(outcome)} ${step ? html`${chip(step)}` : nothing}</td>
    <td data-label="Attempts">${attempts.length === 0 ? 'none' : attemptList(attempts)}</td>
    <td data-label="Ended">${outcome === 'pending' ? (nextAttemptAt ? html`next ${when(nextAttemptAt)}` : 'open') : when(updatedAt)}</td></tr>`
}

/** Attempts as they were made: `3: 503, 503, 200 in 12 ms`. */
export function attemptList(attempts) {
  const words = attempts.map(({ status, error }) => error ?? status ?? 'written')
  return html`${attempts.length}: ${line(words.join(', '), 80)} <span class="dim">${attempts.at(-1).durationMs} ms</span>`
}
