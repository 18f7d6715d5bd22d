import { get, pages, readable } from '../api.js'
import { now } from '../clock.js'
import { linkTo } from '../router.js'
import { clockTime, lengthOf, line, parts, state, toneOf } from '../show.js'
import { html, nothing, svg } from '../vendor/lit.js'

const messagesMax = 2_000
const eventsPages = 3
const wakesMax = 20

/** The story that was read last. What a task has got stays as it is, so only what is new is read. */
let memory = null

/** Reads everything that happened to a task. `isCut`: it has more than is read. */
export async function readStory(id) {
  const path = `/v1/tasks/${encodeURIComponent(id)}`
  const before = memory?.id === id ? memory : { id, messages: [], pieces: [], events: [], since: 0 }
  const after = (list) => (list.length === 0 ? {} : { pageToken: list.length })
  const task = await get(path, { historyLength: 0 })
  const parties = [...new Set([task.assignee, task.originator])].filter((name) => isAgentHere(name))
  const [messages, pieces, events, ...wakes] = await Promise.all([
    readOn(`${path}/messages`, { limit: 500, ...after(before.messages) }, 'messages', messagesMax / 500),
    readOn(`${path}/artifacts`, { limit: 200, ...after(before.pieces) }, 'pieces', 2),
    readable(readEvents(id, before.since), { items: [], since: before.since }),
    ...parties.map((agent) => readable(get('/v1/deliveries', { agent, limit: wakesMax }), { deliveries: [] })),
  ])
  memory = {
    id,
    messages: [...before.messages, ...messages.items],
    pieces: [...before.pieces, ...pieces.items],
    events: [...before.events, ...events.items],
    since: events.since,
  }
  const isCut = messages.isCut || pieces.isCut || events.isCut
  const entries = storyOf({ ...memory, wakes: wakes.flatMap(({ deliveries }) => deliveries) })
  return { task, entries, isCut, spans: spansOf(memory.events, now()), subject: subjectIn(memory.messages) }
}

/** `pages` names the first page by no token; a reading that goes on has one. */
async function readOn(path, { pageToken, ...query }, name, pagesMax) {
  if (pageToken === undefined) return pages(path, query, name, pagesMax)
  const answer = await get(path, { ...query, pageToken })
  return { items: answer[name], isCut: Boolean(answer.nextPageToken) }
}

async function readEvents(task, from) {
  const items = []
  let since = from
  for (let page = 0; page < eventsPages; page++) {
    const answer = await get('/v1/events', { task, since, limit: 1000 })
    items.push(...answer.events)
    since = answer.nextSince
    if (!answer.more) return { items, since }
  }
  return { items, since, isCut: true }
}

const isAgentHere = (name) => name !== '@operator' && !name.includes(':')
const subjectIn = ([first]) =>
  first?.parts
    ?.find(({ text }) => text)
    ?.text?.trim()
    .split('\n')[0] ?? ''

/** Everything that happened to a task, in the order in which it happened. Pure. */
export function storyOf({ messages, pieces, events, wakes }) {
  const said = new Set(events.map(({ data }) => data.statusMessageSeq).filter(Boolean))
  const sent = messages.filter((_, at) => !said.has(at + 1))
  const added = [...pieces]
  const entries = events.map(({ logId, type, actor, data, createdAt }) => ({
    at: createdAt,
    logId,
    actor: data.person ?? actor,
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

/** The states of a task and how long each lasted, in ms: `[{ state, at, ms }]`. Pure. */
export function spansOf(events, until) {
  const changes = events.filter(
    ({ type, data }) => type === 'task.state_changed' && data.newState !== data.previousState,
  )
  return changes.map(({ data, createdAt }, nth) => {
    const at = Date.parse(createdAt)
    const end = nth + 1 < changes.length ? Date.parse(changes[nth + 1].createdAt) : isEnd(data.newState) ? at : until
    return { state: data.newState, at, ms: Math.max(0, end - at) }
  })
}

export const isEnd = (word) => ['completed', 'failed', 'canceled', 'rejected'].includes(word)

const spansMax = 60
/** The least part of the picture that a state has, of 1,000: also a short one is seen. */
const widthMin = 6

/** The time of a task as a picture: its states side by side, as long as they lasted. */
export function timePicture(all) {
  const spans = all.slice(-spansMax)
  if (spans.length === 0) return nothing
  const total = spans.reduce((sum, { ms }) => sum + ms, 0) || 1
  const room = 1_000 - widthMin * spans.length
  const sums = new Map()
  for (const { state: word, ms } of spans) sums.set(word, (sums.get(word) ?? 0) + ms)
  let x = 0
  const rects = spans.map(({ state: word, ms }) => {
    const width = widthMin + (ms / total) * room
    x += width
    return svg`<rect class=${toneOf(word) || 'none'} x=${x - width} y="0" width=${Math.max(1, width - 2)} height="10"><title>${word} ${lengthOf(ms)}</title></rect>`
  })
  const words = [...sums].map(
    ([word, ms]) =>
      html`<li><i class="key ${toneOf(word) || 'none'}"></i>${word}${isEnd(word) ? nothing : html` <strong>${lengthOf(ms)}</strong>`}</li>`,
  )
  return html`<figure class="time"><svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="The states of the task in time"><title>The states of the task in time</title>${rects}</svg>
    <ul>${words}</ul></figure>`
}

/** A story as a list; of long texts the beginning. */
export function storyList(entries, max) {
  return html`<ol class="story">${entries.map((one) => entry(one, max))}</ol>`
}

function entry({ at, type, actor, data, message, artifact, wake }, max) {
  return html`<li class=${wake ? 'wake' : toneOf(data?.newState)}><div class="head">${at ? clockTime(at) : nothing} ${wake ? wakeHead(wake) : html`<strong>${line(actor)}</strong> ${words(type, data)}`}</div>
    ${message ? parts(message.parts, max) : nothing}
    ${artifact ? html`<div><strong>${line(artifact.name ?? 'artifact')}</strong></div>${parts(artifact.parts, max)}` : nothing}
    ${wake ? (wake.steps ?? []).map(({ step, source, at, detail }) => html`<div class="dim">${clockTime(at)} ${state(step)} ${line(source)} ${line(detail)}</div>`) : nothing}</li>`
}

function words(type, data) {
  if (type === 'task.state_changed') {
    if (data.previousState === data.newState) return html`gave it to ${line(data.assignee)}`
    return html`${data.previousState ? 'moved it to' : 'made it'} ${state(data.newState)}`
  }
  if (type === 'message.sent') return 'wrote'
  if (type === 'task.artifact_added') return 'added an artifact'
  return type
}

const wakeHead = ({ agent, harnessTarget, eventId, attempts, outcome }) =>
  html`<strong>${line(agent)}</strong> was woken by <a href=${linkTo('deliveries', eventId)}>${harnessTarget}</a> ${state(outcome)}
    <span class="dim">${attempts.length > 1 ? `${attempts.length} attempts, ` : ''}${attempts.length > 0 ? `${attempts.at(-1).durationMs} ms` : ''}</span>`
