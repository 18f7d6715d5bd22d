import { call, get, readable } from '../api.js'
import { choose } from '../dialog.js'
import { linkTo } from '../router.js'
import { age, chip, counted, exact, facts, failed, line, plain, say, short, state, when } from '../show.js'
import { readSubjects } from '../subjects.js'
import { bodyOf, markOf, titleOf } from '../urgency.js'
import { html, keyed, nothing, repeat } from '../vendor/lit.js'
import { routeOf } from './agents.js'
import { answerMail, answerTask, cancelTask, endPark, openGate, resolveMail } from './answers.js'
import { approvalBody, approvalFacts } from './approval.js'
import { deliveryTable } from './deliveries.js'
import { pause, reactivate, sendTest, wakeAgain } from './mend.js'
import { readStory, storyList, timePicture } from './story.js'

const groupMax = 20
const subscriptionKinds = ['degraded', 'failing', 'retrying']

/** The reads for each kind of need when it is opened. */
export async function readEntry(one, shown = groupMax) {
  const { kind, agent, isGroup } = one
  const [need] = one.needs
  if (isGroup || kind === 'mail' || kind === 'late') return readGroup(one, shown)
  if (need.approvalId) {
    const [approval, work] = await Promise.all([
      get(`/v1/approvals/${encodeURIComponent(need.approvalId)}`),
      readable(get('/v1/tasks', { agent, state: 'working', pageSize: 3, historyLength: 0 }), { tasks: [] }),
    ])
    await readSubjects(work.tasks.map(({ id }) => id))
    return { approval, works: work.tasks }
  }
  if (need.taskId) return { story: await readStory(need.taskId) }
  if (subscriptionKinds.includes(kind)) {
    const id = need.subscriptionId
    const [subscription, { deliveries }] = await Promise.all([
      get(`/v1/wake-subscriptions/${encodeURIComponent(id)}`),
      readable(get('/v1/deliveries', { subscription: id, limit: 5 }), { deliveries: [] }),
    ])
    return { subscription, deliveries }
  }
  return readRecovery(agent)
}

async function readGroup(one, limit) {
  const { kind, agent } = one
  const { needs, isCut } = await readNeedsOf(one, limit)
  await readSubjects(needs.map(({ taskId }) => taskId))
  const { recovery } = kind === 'late' ? await readRecovery(agent) : {}
  return { needs: needs.filter(({ snoozedUntil }) => !snoozedUntil), isCut, recovery }
}

/** The needs of an agent and kind that have no line of their own; those of the project have no agent. */
async function readNeedsOf({ kind, agent, listed = [] }, limit) {
  const { needs, nextPageToken } = await get('/v1/needs', { kind, agent, limit: limit + listed.length })
  const rest = needs.filter((need) => need.agent === agent && !listed.includes(need.id))
  return { needs: rest, isCut: Boolean(nextPageToken) }
}

async function readRecovery(agent) {
  if (!agent?.startsWith('@') || agent === '@operator') return {}
  const { recovery } = await readable(get('/v1/recovery', { agent }), { recovery: [] })
  return { recovery: recovery[0] }
}

/** True for an event that may change what is shown of a need. */
export function concerns({ type, taskId, data }, { kind, agent, needs: [need] }) {
  if (need?.approvalId) return data.approvalId === need.approvalId
  if (kind === 'approval' && !need) return data.approvalId !== undefined
  if (kind === 'mail') return type.startsWith('message.')
  if (kind === 'late' || (!need && !subscriptionKinds.includes(kind)))
    return type.startsWith('task.') && [agent, undefined].includes(data.assignee)
  if (need?.taskId) return taskId === need.taskId
  if (subscriptionKinds.includes(kind)) return type.startsWith('subscription.') || type.startsWith('wake.')
  return type.startsWith('recovery.') || type.startsWith('gate.')
}

/** The opened need: everything that one needs to decide it. */
export function entry({ line: one, detail }, tools, acts) {
  const { kind, title, needs, isGroup, count } = one
  const body =
    detail === null
      ? html`<p class="dim">Reading…</p>`
      : detail.error
        ? failed(detail.error, tools.reload)
        : drawn(one, detail, tools, acts)
  const isMany = isGroup && count > 1
  return keyed(
    one.id,
    html`<article class="entry" aria-labelledby="entry-title" data-kind=${kind}>
    <a class="back" href=${linkTo('needs')}>‹ All needs</a>
    <header>${chip(...markOf(kind))} <h2 id="entry-title" class="title">${line(title, 300)}</h2>
      <div class="dim">${facts(factsOf(one, detail))}</div></header>
    ${one.snoozedUntil ? html`<p class="row"><span>Put off, ends ${when(one.snoozedUntil)}</span> <button @click=${() => acts.show(one)}>Show it again</button></p>` : nothing}
    ${isMany || needs.length > 0 || isGroup ? body : nothing}</article>`,
  )
}

/** The body of an entry. One that cannot be drawn is shown as it came, and stops nothing else. */
function drawn(one, detail, tools, acts) {
  try {
    return decision(one, detail, tools, acts)
  } catch (error) {
    const after = () => acts.moveOn(one)
    return html`<p class="failure" role="alert">It has another shape than it should (${line(error.message, 200)}), and is shown as it came.</p>
      ${detail.approval ? approvalBody(detail.approval, tools, { guard: acts.guard, after, isRaw: true }) : exact(JSON.stringify({ ...one, detail }, null, 2))}`
  }
}

function factsOf({ agent, since, needs: [need], isGroup }, detail) {
  if (detail?.approval) return approvalFacts(detail.approval)
  const who =
    agent === null
      ? 'the project'
      : agent === '@operator' || agent.includes(':')
        ? line(agent, 60)
        : html`<a href=${linkTo('agents', agent)}>${line(agent, 60)}</a>`
  return [
    who,
    since ? html`for ${age(since)}` : null,
    !isGroup && need?.taskId
      ? html`<a href=${linkTo('tasks', need.taskId)}>task ${short(need.taskId)}</a> from ${line(need.originator, 60)}`
      : null,
    need?.subscriptionId
      ? html`<a href=${linkTo('deliveries', undefined, { subscription: need.subscriptionId })}>${need.trigger} ${short(need.subscriptionId)}</a>`
      : null,
    need?.until && !need.subscriptionId ? html`ends ${when(need.until)}` : null,
  ]
}

function decision(one, detail, tools, acts) {
  const { kind, agent, needs, isGroup } = one
  const { act, may, caller } = tools
  const canSnooze = caller.kind === 'operator' && may('work') && !one.snoozedUntil
  const later = canSnooze
    ? html`<button type="button" data-key="z" @click=${() => acts.later(one)}>Later… <kbd>z</kbd></button>`
    : nothing
  const after = () => acts.moveOn(one)
  const [need] = needs
  if (isGroup || kind === 'mail' || kind === 'late') return groupBody(one, detail, tools, acts, later)
  if (detail.approval) {
    const works = detail.works.map(
      (task) =>
        html`<li><a href=${linkTo('tasks', task.id)}>${line(titleOf({ taskId: task.id }), 120)}</a> <span class="dim">from ${line(task.originator, 60)}</span></li>`,
    )
    return html`${approvalBody(detail.approval, tools, { guard: acts.guard, after, more: later })}
      ${works.length > 0 ? html`<section class="led"><h3>It works on</h3><ul class="plain">${works}</ul></section>` : nothing}`
  }
  if (detail.story) {
    return html`${answerTask({ ...need, title: one.title }, tools, { after, more: later })}
      <section class="led"><h3>What led here</h3>${timePicture(detail.story.spans)}${storyList(detail.story.entries.slice(-40), 600)}
        <p><a href=${linkTo('tasks', need.taskId)}>The whole task</a></p></section>`
  }
  if (detail.subscription) return subscriptionBody(need, detail, tools, { after, later })
  if (kind === 'gate')
    return html`<section class="card">${say(need.text)}${openGate(need, tools, { after })}<div class="row">${later}</div></section>`
  const recovery = detail.recovery ? html`<p>${routeOf(detail.recovery)}</p>` : nothing
  const help = {
    approval: html`<p>Approve it where the harness runs: it cannot be answered from here.</p>`,
    capped: html`<p>It is woken again when its cap allows the next turn. The caps of a gate are settings: <code>rouse gate ${agent}</code></p>`,
    key: html`<p>Make a new one before it ends: <code>rouse key rotate</code>, or <code>rouse operator key add</code> for an operator. After that nobody can sign in with it.</p>`,
  }[kind]
  const end =
    kind === 'parked' && may('work')
      ? html`<button class="main" data-key="e" @click=${acts.guard(() => endPark(agent, act, { after }))}>End the park… <kbd>e</kbd></button>`
      : nothing
  const write =
    agent && may('send') && kind !== 'key'
      ? html`<a class="button" href=${linkTo('write', undefined, { to: agent })}>Write to ${line(agent, 40)}</a>`
      : nothing
  return html`<section class="card">${say(need.text)}${help ?? nothing}${recovery}<div class="row">${end}${write}${later}</div></section>`
}

function subscriptionBody(
  { kind, text, subscriptionId: id },
  { subscription, deliveries },
  { act, may },
  { after, later },
) {
  const { status, reason, retrying, harnessTarget, harnessTargetMetadata } = subscription
  const again =
    kind === 'degraded'
      ? html`<button class="main" data-key="e" @click=${() => reactivate([id], act, { after })}>Reactivate… <kbd>e</kbd></button>`
      : nothing
  return html`<section class="card"><h3>${harnessTarget} <span class="dim">${line(harnessTargetMetadata.url, 300)}</span></h3>
      <p>${state(status)} ${line(text, 300)}${reason && reason !== text ? html`, ${line(reason, 300)}` : nothing}${retrying ? html` · next try ${when(retrying.nextTryAt)}` : nothing}</p>
      <div class="row">${
        may('manage')
          ? html`${again}<button class=${kind === 'degraded' ? '' : 'main'} @click=${() => sendTest(id, act)}>Send a test wake</button>
        <button @click=${() => pause([id], act, { after })}>Pause…</button>`
          : nothing
      }${later}</div></section>
    <section class="led"><h3>Its newest wakes</h3>${deliveryTable(deliveries)}</section>`
}

/** Mail of a sender, the late tasks of an agent, or what else is one line: an entry each, of which one is open. */
function groupBody(one, { needs, isCut, recovery }, tools, acts, later) {
  const { kind, count } = one
  const openId = acts.openOf(one) ?? needs[0]?.id
  const item = (need) => {
    const isOpen = need.id === openId
    const title = titleOf(need)
    const toggle = (event) => event.target.open !== isOpen && acts.openIn(one, event.target.open ? need.id : '')
    return html`<li><details ?open=${isOpen} @toggle=${toggle}><summary><b>${line(title, 160)}</b> ${age(need.since)}</summary>
      ${isOpen ? html`<div class="opened">${itemBody({ ...need, title }, tools, acts, one, needs)}</div>` : nothing}</details></li>`
  }
  const why = kind === 'late' && recovery ? html`<p>It is woken by: ${routeOf(recovery)}</p>` : nothing
  return html`${why}<div class="row">${later}</div>
    <ul class="items">${repeat(needs, ({ id }) => id, item)}</ul>
    ${isCut || needs.length < count ? html`<p class="row"><span class="dim">The ${counted(needs.length, 'longest wait')} of ${count.toLocaleString('en')}${one.atLeast ? '+' : ''}.</span> <button @click=${() => acts.more(one)}>Show more</button></p>` : nothing}`
}

function itemBody(need, tools, acts, group, all) {
  const { kind, taskId, originator, title } = need
  const text = bodyOf(plain(need.text), title)
  const { act, may } = tools
  // The next one of the group opens; after the last one, the next need.
  const after = () => {
    const at = all.findIndex(({ id }) => id === need.id)
    const next = all[at + 1] ?? all[at - 1]
    if (next) acts.openIn(group, next.id)
    else acts.moveOn(group)
  }
  if (kind === 'mail') {
    const resolve = acts.guard(() => act(`Resolved: ${plain(title).slice(0, 80)}.`, () => resolveMail(need), { after }))
    return answerMail({ ...need, text, isCut: need.text.length >= 2_000 }, tools, { after, resolve })
  }
  if (need.approvalId)
    return html`${say(need.text)}<div class="row"><a class="button main" href=${linkTo('needs', need.id)}>See all of it, and answer</a></div>`
  if (kind !== 'late') return html`${need.taskId ? answerTask(need, tools, { after }) : say(need.text)}`
  return html`${say(text)}<p class="dim"><a href=${linkTo('tasks', taskId)}>Task ${short(taskId)}</a> from ${line(originator, 60)}</p>
    <div class="row">${may('manage') ? html`<button class="main" @click=${() => wakeAgain({ ...need, agent: group.agent }, act)}>Wake it again</button>` : nothing}
      ${may('work') ? html`<button class="danger" data-key="e" @click=${() => cancelTask(need, act, { after })}>Cancel the task… <kbd>e</kbd></button>` : nothing}</div>`
}

const hourMs = 3_600_000
const times = [
  [hourMs, '1 hour'],
  [4 * hourMs, '4 hours'],
  [24 * hourMs, '1 day'],
  [7 * 24 * hourMs, '1 week'],
]
const snoozedMax = 100

/** Puts a need off, or those of a line, for all operators of the project. Resolves with whether it was done. */
export async function later(one, { act }, { now, after }) {
  const ms = await choose({ title: `Put off for all operators: ${plain(one.title).slice(0, 80)}`, options: times })
  if (ms === undefined) return
  const needs = one.isGroup ? (await readNeedsOf(one, snoozedMax)).needs : one.needs
  const put = (until) => () =>
    Promise.all(needs.map(({ id: need }) => call('POST', '/v1/needs/snooze', { body: { need, until } })))
  const words = times.find(([value]) => value === ms)[1]
  const undo = () => act('It is shown again.', put(null))
  await act(
    `Put off for ${words}${needs.length > 1 ? `: ${needs.length}` : ''}.`,
    put(new Date(now + ms).toISOString()),
    { undo, after },
  )
}

export const showAgain = ({ needs: [{ id: need }] }, { act }) =>
  act('It is shown again.', () => call('POST', '/v1/needs/snooze', { body: { need, until: null } }))
