import { call, get } from '../api.js'
import { linkTo } from '../router.js'
import { chip, line, plain, say, short, when } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { answers } from './answers.js'

export const title = 'Needs you'
export const load = ({ query: { agent, page } }) => get('/v1/needs', { agent, pageToken: page })

const words = {
  input: ['ASK', 'ask', 'asks'],
  auth: ['AUTH', 'ask', 'needs a sign-in or a permission'],
  approval: ['APPROVE', 'ask', 'waits for an approval'],
  mail: ['MAIL', 'ask', 'wrote to the operator'],
  failing: ['FAILS', 'bad', 'was not woken: an event failed'],
  degraded: ['ERR', 'bad', 'is no longer woken'],
  retrying: ['RETRY', 'busy', 'cannot be reached, and is tried again'],
  gate: ['GATE', 'bad', 'recovery has stopped'],
  parked: ['PARKED', '', 'is at a limit'],
  capped: ['CAP', '', 'has had as many turns as it may'],
  late: ['LATE', 'bad', 'has not taken up a task'],
}

export function view({ needs, folded, nextPageToken }, tools) {
  if (needs.length === 0) {
    return html`<p class="empty">Nothing waits for you. Questions of tasks, approvals, failing wakes, tripped gates and limits appear here.</p>`
  }
  const now = needs.filter(({ snoozedUntil }) => !snoozedUntil)
  const off = needs.filter(({ snoozedUntil }) => snoozedUntil)
  const list = (some) => html`<ol class="cards">${repeat(some, keyOf, (need) => card(need, tools))}</ol>`
  return html`${now.length === 0 ? html`<p class="empty">Nothing waits for you but what was put off.</p>` : list(now)}
    ${off.length === 0 ? nothing : html`<details><summary>Put off: ${off.length}</summary>${list(off)}</details>`}
    ${folded.map(rest)}
    ${nextPageToken ? html`<p><a href=${linkTo('needs', undefined, { ...tools.query, page: nextPageToken })}>More</a></p>` : nothing}`
}

/** What is not listed: an agent's many do not hide the needs of others. */
const rest = ({ kind, agent, count, atLeast }) =>
  html`<p>${chip(...words[kind])} <a href=${linkTo('needs', undefined, { agent })}>${count.toLocaleString('en')}${atLeast ? '+' : ''} more of ${line(agent)}</a></p>`

const keyOf = ({ kind, id }) => `${kind} ${id}`

const hourMs = 3_600_000
const times = [
  ['1 hour', hourMs],
  ['4 hours', 4 * hourMs],
  ['1 day', 24 * hourMs],
  ['1 week', 7 * 24 * hourMs],
]

/** Puts a need off, for all operators of the project. */
function snooze({ id, agent, snoozedUntil }, { act, may, caller }) {
  if (caller.kind !== 'operator' || !may('work')) return nothing
  const put = (done, until) => act(done, () => call('POST', '/v1/needs/snooze', { body: { need: id, until } }))
  if (snoozedUntil) {
    return html`<div class="row"><span class="dim">Put off, ends ${when(snoozedUntil)}</span>
      <button @click=${() => put('It is shown again.', null)}>Show it again</button></div>`
  }
  const choose = ({ target }) => {
    const [name, ms] = times[Number(target.value)]
    target.selectedIndex = 0
    put(`It is put off for ${name}.`, new Date(Date.now() + ms).toISOString())
  }
  return html`<div class="row"><select aria-label="Put off: ${plain(agent ?? 'the project')}" @change=${choose}>
    <option selected disabled>Put off…</option>${times.map(([name], at) => html`<option value=${at}>for ${name}</option>`)}</select></div>`
}

function card(need, tools) {
  const { kind, agent, since, text } = need
  const [word, tone, does] = words[kind]
  return html`<li class="card" data-kind=${kind}>
    <h2>${chip(word, tone)} ${nameOf(agent)} <span class="does">${does}</span> <span class="dim">${when(since)}</span></h2>
    ${about(need)} ${say(text)}
    <div class="answer">${answers[kind](need, tools)} ${snooze(need, tools)}</div>
  </li>`
}

function nameOf(agent) {
  if (agent === null) return 'The project:'
  if (agent === '@operator' || agent.includes(':')) return line(agent)
  return html`<a href=${linkTo('agents', agent)}>${line(agent)}</a>`
}

function about({ taskId, originator, subscriptionId, trigger, until, kind }) {
  if (taskId) {
    return html`<p class="dim"><a href=${linkTo('tasks', taskId)}>Task ${short(taskId)}</a> from ${line(originator)}</p>`
  }
  if (subscriptionId) {
    const link = linkTo('deliveries', undefined, { subscription: subscriptionId })
    return html`<p class="dim"><a href=${link}>Subscription ${short(subscriptionId)}</a>, ${trigger}${until ? html`, tried ${when(until)}` : nothing}</p>`
  }
  if (kind === 'parked' || kind === 'capped')
    return html`<p class="dim">${until === null ? 'until a person acts' : html`ends ${when(until)}`}</p>`
  return nothing
}
