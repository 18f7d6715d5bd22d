import { get, pages, readable } from '../api.js'
import { linkTo } from '../router.js'
import { age, chip, line, plain, short, state, when } from '../show.js'
import { linesOf, markOf } from '../urgency.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { looked, routeOf } from './agents.js'
import { endPark } from './answers.js'
import { deliveryTable, nameEvents } from './deliveries.js'
import { pause, reactivate, sendTest } from './mend.js'
import { board, loadBoard, taskList } from './tasks.js'

export const title = ({ id }) => plain(id).slice(0, 80)

/** Mail that was read: an operator who reads it is in the audit each time, so it is read again only when mail has changed. */
let mail = { agent: null, messages: [] }

export function hear({ type }) {
  if (type.startsWith('message.')) forget()
}

export function forget() {
  mail = { agent: null, messages: [] }
}

async function readMail(agent) {
  if (mail.agent !== agent) {
    const { messages } = await readable(get('/v1/inbox', { agent, limit: 30 }), { messages: null })
    mail = { agent, messages }
  }
  return mail.messages
}

export async function load({ id: agent, readNeeds }) {
  const handle = encodeURIComponent(agent.replace(/^@/, ''))
  const none = { tasks: [], recovery: [], turns: null, deliveries: null }
  const [found, works, started, messages, recovery, turns, deliveries, subscriptions, needs] = await Promise.all([
    get(`/v1/agents/${handle}`),
    loadBoard(agent),
    readable(get('/v1/tasks', { agent, role: 'originator', pageSize: 20, historyLength: 1 }), none),
    readMail(agent),
    readable(get('/v1/recovery', { agent }), none),
    readable(get('/v1/turns', { agent, limit: 20 }), none),
    readable(get('/v1/deliveries', { agent, limit: 20 }), none),
    readable(pages('/v1/wake-subscriptions', { agent, limit: 100 }, 'subscriptions', 1), null),
    readNeeds(),
  ])
  await nameEvents(deliveries.deliveries ?? [])
  return {
    agent: found,
    works,
    started: started.tasks,
    mail: messages,
    recovery: recovery.recovery[0],
    turns: turns.turns,
    deliveries: deliveries.deliveries,
    subscriptions,
    needs: linesOf(needs).filter((one) => one.agent === found.handle && !one.snoozedUntil),
  }
}

const notYours = html`<p class="dim">Not yours to see.</p>`

export function view(data, tools) {
  const { agent, works, started, mail, turns, deliveries, subscriptions } = data
  return html`${head(data, tools)}
    <h2>Tasks</h2>${board(agent.handle, works)}
    ${started.length === 0 ? nothing : html`<details><summary>Started by it: the newest ${started.length}</summary>${taskList(started)}</details>`}
    <h2>Inbox</h2>${mail === null ? notYours : inbox(mail)}
    <h2>Subscriptions</h2>${subscriptions === null ? notYours : subscriptionList(subscriptions, tools)}
    <h2>Turns</h2>${turns === null ? notYours : turnTable(turns)}
    <h2>Wakes</h2>${deliveries === null ? notYours : html`${deliveryTable(deliveries)}<p><a href=${linkTo('deliveries', undefined, { agent: agent.handle })}>All its deliveries</a></p>`}`
}

function head({ agent, recovery, needs }, { act, may }) {
  const { presence, session, lastSeenAt, description } = agent
  const parked = recovery?.parked
  const gate = recovery?.gate
  return html`<div class="card">${needs.map(({ id, kind, title }) => html`<p>${chip(...markOf(kind))} <a href=${linkTo('needs', id)}>${line(title, 160)}</a></p>`)}
    <p>${session ? html`${state(presence.state)} ${line(session.surface, 40)} ${short(session.sessionId)}, ${when(presence.asOf)} by ${presence.source}` : chip('no session')}
      · last seen ${when(lastSeenAt)}</p>
    <p>Woken by ${routeOf(recovery)} ${recovery?.waiting ? html`· ${looked(recovery.waiting.unread)} unread, ${looked(recovery.waiting.openTasks)} open tasks` : nothing}</p>
    ${description ? html`<p>${line(description, 300)}</p>` : nothing}
    ${gate ? html`<p>Recovery: nudges ${state(gate.nudges)} restarts ${state(gate.restarts)}${gate.reason ? html` <span class="dim">${line(gate.reason, 200)}</span>` : nothing}</p>` : nothing}
    ${parked ? html`<p>${chip('parked', 'park')} ${parked.reason} ${line(parked.detail)}, ${parked.until ? html`ends ${when(parked.until)}` : 'until a person acts'}</p>` : nothing}
    <div class="row">${may('send') ? html`<a class="button" href=${linkTo('write', undefined, { to: agent.handle })}>Write to it</a>` : nothing}
      <a class="button" href=${linkTo('claims', undefined, { owner: agent.handle })}>Its claims</a>
      ${parked && may('work') ? html`<button @click=${() => endPark(agent.handle, act)}>End the park…</button>` : nothing}</div></div>`
}

function inbox(mail) {
  if (mail.length === 0) return html`<p class="dim">No mail.</p>`
  return html`<table class="wide"><thead><tr><th scope="col">From</th><th scope="col">Subject</th><th scope="col">Status</th><th scope="col" class="r">Came</th></tr></thead>
    <tbody>${repeat(
      mail,
      ({ messageId }) => messageId,
      ({ from, person, subject: about, body, threadId, taskId, status, receipt, createdAt }) => html`<tr>
      <th scope="row">${line(person ?? from, 40)}</th>
      <td><a href=${taskId ? linkTo('tasks', taskId) : linkTo('threads', threadId)}>${line(about || body || 'No subject', 90)}</a></td>
      <td>${status === 'sent' ? chip('unread', 'ask') : chip(status)} <span class="dim">${receipt}</span></td>
      <td class="r">${age(createdAt)}</td></tr>`,
    )}</tbody></table>`
}

function turnTable(turns) {
  if (turns.length === 0) return html`<p class="dim">None was begun.</p>`
  return html`<table class="wide"><thead><tr><th scope="col">Turn</th><th scope="col">For</th><th scope="col">End</th><th scope="col" class="r">Begun</th></tr></thead>
    <tbody>${repeat(
      turns,
      ({ turnId }) => turnId,
      ({ startedAt, act, route, senders, outcome, detail, endedAt, eventId }) => html`<tr>
      <th scope="row">${act} by ${eventId ? html`<a href=${linkTo('deliveries', eventId)}>${line(route, 40)}</a>` : line(route, 40)}</th>
      <td>${line(senders.join(', '), 80)}</td>
      <td>${state(outcome ?? 'begun')} <span class="dim">${outcome === 'withheld' ? html`cap of the ${detail}, until ${when(endedAt)}` : line(detail, 200)}</span></td>
      <td class="r">${age(startedAt)}</td></tr>`,
    )}</tbody></table>`
}

function subscriptionList({ items, isCut }, { act, may }) {
  if (items.length === 0) return html`<p class="dim">None.</p>`
  return html`<ul class="plain">${repeat(
    items,
    ({ subscriptionId }) => subscriptionId,
    (one) => {
      const { subscriptionId: id, trigger, harnessTarget, harnessTargetMetadata, status, reason, retrying } = one
      const isOn = status === 'active' || status === 'waiting'
      return html`<li class="card"><p>${state(status)} <a href=${linkTo('deliveries', undefined, { subscription: id })}>${short(id)}</a> ${trigger} by ${harnessTarget} <span class="dim">${line(harnessTargetMetadata.url, 200)}</span></p>
      ${reason ? html`<p class="dim">${line(reason, 200)}</p>` : nothing}
      ${retrying ? html`<p>${chip('retrying', 'ask')} since ${when(retrying.since)}: ${line(retrying.error)}, next ${when(retrying.nextTryAt)}</p>` : nothing}
      ${
        may('manage')
          ? html`<div class="row">${isOn ? html`<button @click=${() => pause([id], act)}>Pause…</button>` : html`<button @click=${() => reactivate([id], act)}>Reactivate…</button>`}
        <button @click=${() => sendTest(id, act)}>Send a test wake</button></div>`
          : nothing
      }</li>`
    },
  )}</ul>${isCut ? html`<p class="dim">It has more: these are the first 100.</p>` : nothing}`
}
