import { get, readable } from '../api.js'
import { linkTo } from '../router.js'
import { chip, line, plain, short, state, when } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { looked, routeOf } from './agents.js'
import { endPark } from './answers.js'
import { deliveryTable } from './deliveries.js'
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
    const { messages } = await readable(get('/v1/inbox', { agent, limit: 30 }), { messages: [] })
    mail = { agent, messages }
  }
  return mail.messages
}

export async function load({ id: agent }) {
  const handle = encodeURIComponent(agent.replace(/^@/, ''))
  const none = { tasks: [], recovery: [], turns: [], deliveries: [], subscriptions: [] }
  const [found, works, started, messages, recovery, turns, deliveries, subscriptions] = await Promise.all([
    get(`/v1/agents/${handle}`),
    loadBoard(agent),
    readable(get('/v1/tasks', { agent, role: 'originator', pageSize: 20, historyLength: 1 }), none),
    readMail(agent),
    readable(get('/v1/recovery', { agent }), none),
    readable(get('/v1/turns', { agent, limit: 20 }), none),
    readable(get('/v1/deliveries', { agent, limit: 20 }), none),
    readable(get('/v1/wake-subscriptions', { agent }), none),
  ])
  return {
    agent: found,
    works,
    started: started.tasks,
    mail: messages,
    recovery: recovery.recovery[0],
    turns: turns.turns,
    deliveries: deliveries.deliveries,
    subscriptions: subscriptions.subscriptions,
  }
}

export function view(data, tools) {
  const { agent, works, started, mail, turns, deliveries, subscriptions } = data
  return html`${head(data, tools)}
    <h2>Tasks</h2>${board(agent.handle, works)}
    ${started.length === 0 ? nothing : html`<details><summary>Started by it: ${started.length}</summary>${taskList(started)}</details>`}
    <h2>Inbox</h2>${inbox(mail)}
    <h2>Subscriptions</h2>${subscriptionList(subscriptions, tools)}
    <h2>Turns</h2>${turnTable(turns)}
    <h2>Wakes</h2>${deliveryTable(deliveries)}
    <p><a href=${linkTo('deliveries', undefined, { agent: agent.handle })}>All its deliveries</a></p>`
}

function head({ agent, recovery }, { act, may }) {
  const { presence, session, lastSeenAt, description } = agent
  const parked = recovery?.parked
  return html`<div class="card"><p>${session ? state(presence.state) : chip('no session')}
      ${session ? html`${line(session.surface, 40)} s${session.sessionId.slice(-6)}, presence ${when(presence.asOf)} by ${presence.source}` : nothing}
      · last seen ${when(lastSeenAt)}</p>
    <p>Route: ${routeOf(recovery)} ${recovery?.waiting ? html`· ${looked(recovery.waiting.unread)} unread, ${looked(recovery.waiting.openTasks)} open tasks` : nothing}</p>
    ${description ? html`<p>${line(description, 300)}</p>` : nothing}
    ${recovery ? html`<p>Recovery: nudges ${state(recovery.gate.nudges)} restarts ${state(recovery.gate.restarts)}</p>` : nothing}
    ${parked ? html`<p>${chip('parked', 'ask')} ${parked.reason} ${line(parked.detail)}, ${parked.until ? html`ends ${when(parked.until)}` : 'until a person acts'}</p>` : nothing}
    <div class="row">${may('send') ? html`<a class="button" href=${linkTo('write', undefined, { to: agent.handle })}>Write to it</a>` : nothing}
      ${parked && may('work') ? html`<button @click=${() => endPark(agent.handle, act)}>End the park</button>` : nothing}</div></div>`
}

function inbox(mail) {
  if (mail.length === 0) return html`<p class="dim">No mail that you may see.</p>`
  return html`<table class="wide"><thead><tr><th scope="col">From</th><th scope="col">Subject</th><th scope="col">Status</th><th scope="col">Came</th></tr></thead>
    <tbody>${repeat(
      mail,
      ({ messageId }) => messageId,
      ({ from, subject: about, body, threadId, taskId, status, receipt, createdAt }) => html`<tr>
      <th scope="row">${line(from, 40)}</th>
      <td data-label="Subject"><a href=${taskId ? linkTo('tasks', taskId) : linkTo('threads', threadId)}>${line(about || body || 'no subject', 90)}</a></td>
      <td data-label="Status">${status === 'sent' ? chip('unread', 'ask') : chip(status)} <span class="dim">${receipt}</span></td>
      <td data-label="Came">${when(createdAt)}</td></tr>`,
    )}</tbody></table>`
}

function turnTable(turns) {
  if (turns.length === 0) return html`<p class="dim">None was begun.</p>`
  return html`<table class="wide"><thead><tr><th scope="col">Begun</th><th scope="col">Turn</th><th scope="col">For</th><th scope="col">End</th></tr></thead>
    <tbody>${repeat(
      turns,
      ({ turnId }) => turnId,
      ({ startedAt, act, route, senders, outcome, detail, endedAt }) => html`<tr>
      <th scope="row">${when(startedAt)}</th>
      <td data-label="Turn">${act} by ${line(route, 40)}</td>
      <td data-label="For">${line(senders.join(', '), 80)}</td>
      <td data-label="End">${state(outcome ?? 'begun')} <span class="dim">${outcome === 'withheld' ? html`cap of the ${detail}, until ${when(endedAt)}` : line(detail, 200)}</span></td></tr>`,
    )}</tbody></table>`
}

function subscriptionList(subscriptions, { act, may }) {
  if (subscriptions.length === 0) return html`<p class="dim">None that you may see.</p>`
  return html`<ul class="plain">${repeat(
    subscriptions,
    ({ subscriptionId }) => subscriptionId,
    (one) => {
      const { subscriptionId: id, trigger, harnessTarget, harnessTargetMetadata, status, reason, retrying } = one
      return html`<li class="card"><p>${state(status)} ${short(id)} ${trigger} by ${harnessTarget} <span class="dim">${line(harnessTargetMetadata.url, 200)}</span></p>
      ${reason ? html`<p class="dim">${line(reason, 200)}</p>` : nothing}
      ${retrying ? html`<p>${chip('retrying', 'ask')} since ${when(retrying.since)}: ${line(retrying.error)}, next ${when(retrying.nextTryAt)}</p>` : nothing}
      ${
        may('manage')
          ? html`<div class="row">${status === 'active' || status === 'waiting' ? html`<button @click=${() => pause([id], act)}>Pause</button>` : html`<button @click=${() => reactivate([id], act)}>Reactivate</button>`}
        <button @click=${() => sendTest(id, act)}>Send a test wake</button></div>`
          : nothing
      }</li>`
    },
  )}</ul>`
}
