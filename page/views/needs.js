import { get } from '../api.js'
import { linkTo } from '../router.js'
import { chip, line, say, short, when } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { answers } from './answers.js'

export const title = 'Needs you'
export const load = () => get('/v1/needs')

const words = {
  input: ['ASK', 'ask', 'asks'],
  auth: ['AUTH', 'ask', 'needs a sign-in or a permission'],
  approval: ['APPROVE', 'ask', 'waits for an approval'],
  mail: ['MAIL', 'ask', 'wrote to the operator'],
  degraded: ['ERR', 'bad', 'is no longer woken'],
  retrying: ['RETRY', 'busy', 'cannot be reached, and is tried again'],
  gate: ['GATE', 'bad', 'recovery has stopped'],
  parked: ['PARKED', '', 'is at a limit'],
  late: ['LATE', 'bad', 'has not taken up a task'],
}

export function view({ needs, more }, tools) {
  if (needs.length === 0) {
    return html`<p class="empty">Nothing waits for you. Questions of tasks, approvals, failing wakes, tripped gates and limits appear here.</p>`
  }
  return html`<ol class="cards">${repeat(needs, keyOf, (need) => card(need, tools))}</ol>
    ${more ? html`<p class="dim">There are more. Of each kind 100 are listed at most.</p>` : nothing}`
}

const keyOf = ({ kind, agent, taskId, version, messageId, subscriptionId, sessionId }) =>
  [kind, agent, taskId, version, messageId, subscriptionId, sessionId].join()

function card(need, tools) {
  const { kind, agent, since, text } = need
  const [word, tone, does] = words[kind]
  return html`<li class="card" data-kind=${kind}>
    <h2>${chip(word, tone)} ${nameOf(agent)} <span class="does">${does}</span> <span class="dim">${when(since)}</span></h2>
    ${about(need)} ${say(text)}
    <div class="answer">${answers[kind](need, tools)}</div>
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
  if (kind === 'parked')
    return html`<p class="dim">${until === null ? 'until a person acts' : html`ends ${when(until)}`}</p>`
  return nothing
}
