import { now } from '../clock.js'
import { note } from '../dialog.js'
import { goTo, linkTo, sift } from '../router.js'
import { age, chip, line } from '../show.js'
import { readSubjects } from '../subjects.js'
import { counts, countsOf, lineOf, linesOf, markOf, urgencies } from '../urgency.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { unread } from './approval.js'
import { concerns, entry, later, readEntry, showAgain } from './entry.js'
import { gone, readGone, readUnlisted } from './gone.js'
import { searchField, sifted } from './list.js'

/** A list and the opened need beside it: its own scrolling, its own headings. */
export const isWide = true
export const title = ({ id }, data) => (id !== undefined && data && atPlace(data, id)?.title) || 'Needs you'

/** A person who presses a key means what stood there before. */
const newMs = 1_000
const isRoomy = matchMedia('(min-width: 60rem)')

/** The id of the need that is open. It stays open when others come before it. */
let openId = null
/** The entry that was read: `{ id, line, title, detail }`. */
let opened = null
let isTouched = false
/** The id that is shown with all that one needs to decide, and since when. */
let shownNow = { id: null, at: 0 }
/** Of a line that stands for several: the one that is open, and how many are read. */
const openItems = new Map()
const itemCounts = new Map()
let focusNext = false

export function hear(event) {
  if (opened?.line && concerns(event, opened.line)) isTouched = true
}

/** Forgets what one reader has seen before the next one signs in. */
export function forget() {
  openId = null
  opened = null
  openItems.clear()
  itemCounts.clear()
}

export async function load(tools) {
  const answer = await tools.readNeeds()
  await readSubjects(answer.needs.map(({ taskId, subject }) => (subject ? undefined : taskId)))
  const lines = linesOf(answer)
  if (tools.id !== undefined) openId = tools.id
  else if (!isRoomy.matches) openId = null
  else openId ??= lines.find(({ snoozedUntil }) => !snoozedUntil)?.id ?? null
  await open(lines, tools)
  return { lines, counts: countsOf(answer), isCut: answer.nextPageToken !== '' }
}

/** The line of an id: its own, that of all of an agent that has it, or the one that is left of those. */
const lineAt = (lines, id) =>
  lines.find((one) => one.id === id) ??
  lines.find(({ needs }) => needs.some((need) => need.id === id)) ??
  lines.find(({ name }) => name === id)

/** Reads what is open. Of two readings at once the later one may end first, so each of them is drawn when it is there. */
async function open(lines, { draw }) {
  if (openId === null) {
    opened = null
    return
  }
  const id = openId
  const one = lineAt(lines, id) ?? (await unlistedLine(id))
  if (!one || openId !== id) return
  const isSame = opened?.id === id
  if (!isSame && one.isGroup && one.id !== id) openItems.set(one.id, id)
  if (isSame && opened.line && !isTouched && !opened.detail?.error) {
    opened = { ...opened, line: one, title: one.title }
    return
  }
  isTouched = false
  const detail = await readEntry(one, itemCounts.get(one.id)).catch((error) => ({ error: error.message }))
  if (openId !== id) return
  opened = { id, line: one, title: one.title, detail }
  draw()
}

/** The line of a need beyond the list. Of one that waits no more it is opened what became of it, which stays so. */
async function unlistedLine(id) {
  const before = opened?.id === id ? opened : undefined
  if (before && !before.line && !before.detail.error) return undefined
  try {
    const need = await readUnlisted(id)
    if (need) return lineOf(need)
    const detail = await readGone(id)
    if (openId === id) opened = { id, title: before?.title, line: null, detail }
  } catch (error) {
    if (openId === id && !before?.line) opened = { id, line: null, detail: { error: error.message } }
  }
  return undefined
}

/** The entry that is open at an id: as it was read, or at first its line alone, so that no key finds the one before. */
function atPlace({ lines }, id) {
  if (id === null || opened?.id === id) return id === null ? null : opened
  const one = lineAt(lines, id)
  return { id, line: one ?? null, title: one?.title, detail: null }
}

export function view(data, tools) {
  const { lines, counts: totals, isCut } = data
  const at = atPlace(data, tools.id ?? openId)
  const ready = at === null || at.detail === null ? null : at.id
  if (shownNow.id !== ready) shownNow = { id: ready, at: performance.now() }
  const acts = actsOf(data, tools)
  const here = at === null ? undefined : lineAt(lines, at.id)
  const { show = '', q = '' } = tools.query
  const shown = visible(lines, tools.query)
  const off = lines.filter(({ snoozedUntil }) => snoozedUntil)
  const isEmpty = lines.every(({ snoozedUntil }) => snoozedUntil)
  const filter = (value) => () => sift({ show: value })
  const pill = (value, words, more = nothing) =>
    html`<button aria-pressed=${show === value ? 'true' : 'false'} @click=${filter(value)}>${words} ${more}</button>`
  return html`<h1 class="hidden">${title(tools, data)}</h1>
    <section class=${tools.id === undefined ? 'list' : 'list behind'} aria-label="Needs"><div class="bar">${searchField(q, 'Search needs')}
      <div class="chips" role="group" aria-label="Show">${pill('', 'All')}${urgencies.filter(([name]) => totals[name].count > 0).map(([name, words]) => pill(name, words.split(' ')[0], counts(totals[name])))}</div></div>
      ${urgencies.map(([name, words]) =>
        section(
          words,
          totals[name],
          shown.filter(({ urgency }) => urgency === name),
          here,
          tools,
        ),
      )}
      ${isEmpty ? html`<p class="empty">Nothing waits for you.${lines.length > 0 ? ' Some was put off.' : ' Questions of tasks, approvals, failing wakes, limits and mail appear here.'}</p>` : shown.length === 0 ? html`<p class="empty">Nothing here. <button @click=${() => sift({ q: undefined, show: undefined })}>Show all</button></p>` : nothing}
      ${isCut ? html`<p class="empty">More wait than are listed here: these are the most urgent.</p>` : nothing}
      ${off.length > 0 ? html`<details class="off" ?open=${off.includes(here)}><summary>Put off: ${off.length}</summary>${linesList(off, here, tools)}</details>` : nothing}
      <p class="foot dim"><kbd>j</kbd> <kbd>k</kbd> move <kbd>Enter</kbd> answer <kbd>z</kbd> later <kbd>/</kbd> search <kbd>?</kbd> all keys</p></section>
    <section class="detail" aria-label="Opened need">${at === null ? (isEmpty ? nothing : html`<p class="empty">Choose a need.</p>`) : at.line ? entry(at, tools, acts) : gone(at, tools)}</section>`
}

const visible = (lines, { show = '', q = '' }) =>
  lines.filter(
    (one) =>
      !one.snoozedUntil && (show === '' || one.urgency === show) && sifted(q, one.title, one.note, one.agent, one.kind),
  )

function section(words, total, some, here, tools) {
  if (some.length === 0) return nothing
  return html`<section aria-label=${words}><h2>${words} <span class="dim">${counts(total)}</span></h2>${linesList(some, here, tools)}</section>`
}

const linesList = (some, here, { query }) =>
  html`<ul class="lines">${repeat(
    some,
    ({ id }) => id,
    (one) => row(one, one === here, query),
  )}</ul>`

function row({ id, kind, title, note, since, isGroup }, isOpen, query) {
  return html`<li data-kind=${kind} class=${isGroup ? 'group' : ''}><a href=${linkTo('needs', id, query)} aria-current=${isOpen ? 'true' : nothing}>
    ${chip(...markOf(kind))}<b>${line(title, 140)}</b>${age(since)}<span class="note">${line(note, 200)}</span></a></li>`
}

/** After each drawing: the focus goes to the next need where an answer has taken the last one away. */
export function shown() {
  const current = document.querySelector('.lines a[aria-current=true]') ?? document.querySelector('.lines a')
  current?.scrollIntoView({ block: 'nearest' })
  if (!focusNext) return
  focusNext = false
  ;(current ?? document.querySelector('#main')).focus()
}

function actsOf({ lines }, tools) {
  const place = (id) => linkTo('needs', id, tools.query)
  const acts = {
    /** Keeps an act from a need that has appeared under the finger only just now. */
    guard:
      (act) =>
      (...given) => {
        if (performance.now() - shownNow.at >= newMs) return act(...given)
        note('This has only just appeared. Look at it, then press again.')
        return undefined
      },
    /** Goes on to the need after this one. */
    moveOn(one) {
      const all = visible(lines, tools.query)
      const at = all.findIndex(({ id }) => id === one.id)
      const next = all[at + 1] ?? all[at - 1]
      openId = next?.id ?? null
      focusNext = true
      history.replaceState(null, '', place(isRoomy.matches ? next?.id : undefined))
    },
    later: (one) => later(one, tools, { now: now(), after: () => acts.moveOn(one) }),
    show: (one) => showAgain(one, tools),
    openOf: ({ id }) => openItems.get(id),
    openIn({ id }, item) {
      if (item !== '') openItems.set(id, item)
      else openItems.set(id, 'none')
      shownNow.at = performance.now()
      isTouched = true
      tools.draw()
    },
    more({ id }) {
      itemCounts.set(id, (itemCounts.get(id) ?? 20) + 40)
      isTouched = true
      tools.reload()
    },
  }
  return acts
}

const press = (key, does) => {
  const button = document.querySelector(`.entry [data-key="${key}"]`)
  if (button) button[does]()
}

/** Goes to the first of these that the opened need has. */
const focusFirst = (...selectors) =>
  selectors
    .map((one) => document.querySelector(`.entry ${one}`))
    .find(Boolean)
    ?.focus()

/** The keys of this view. An approval is never given by one key: `a` goes to its button. */
export function keys(data, tools) {
  if (data === null) return {}
  const move = (step) => () => {
    const all = visible(data.lines, tools.query)
    const at = all.indexOf(lineAt(all, tools.id ?? openId))
    const next = all[at === -1 ? 0 : Math.min(all.length - 1, Math.max(0, at + step))]
    if (!next || next === all[at]) return
    focusNext = true
    goTo(linkTo('needs', next.id, tools.query))
  }
  const answer = () => focusFirst('textarea', '[data-key=a]:enabled', unread, 'input', '.main', 'summary', 'button')
  const approve = () => focusFirst('[data-key=a]:enabled', unread)
  return {
    j: ['the next need', move(1)],
    k: ['the need before', move(-1)],
    Enter: ['go to the answer', answer],
    r: ['reply: go to the text', () => document.querySelector('.entry textarea, .entry [data-key=r]')?.focus()],
    a: ['approve: go to the button, or to what is to be read first', approve],
    d: ['deny, with a sentence', () => press('d', 'click')],
    e: ['resolve: mail, a park, a subscription', () => press('e', 'click')],
    z: ['later: put it off', () => press('z', 'click')],
  }
}
