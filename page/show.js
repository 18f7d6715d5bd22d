import { now } from './clock.js'
import { html, nothing, ref } from './vendor/lit.js'

/** The longest text that is shown before somebody asks for all of it, in characters. */
const shownMax = 1_500
const allMax = 1_000_000

// Control characters, those that turn the direction of a text, and those that nobody sees: a text must not look like another one. An emoji may
// have its joiners.
const unseen =
  /(?!\n|\t|\ufe0f|\u200d\p{Extended_Pictographic})(?:\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point})/gu

/** A text of anybody, with the characters that would hide something written out. */
export function plain(text) {
  return String(text ?? '')
    .replace(/\r\n/g, '\n')
    .replace(unseen, codePoint)
}

// Of a command every character counts: joiners, carriage returns and blanks that are no spaces too.
const inexact = /(?!\n|\t| )(?:\p{C}|\p{Z}|\u2800|\u115f|\u1160|\p{Default_Ignorable_Code_Point})/gu

/** More blank lines, or blanks, in a row than these are counted instead of shown: what follows them must not be out of sight. */
const blankLinesMax = 2
const blanksMax = 64
const hidden = new RegExp(`${inexact.source}|[\t ]{${blanksMax + 1},}`, 'gu')

/**
 * A text exactly as it is, line by line, with every character that does not show itself written out. Nothing is left out. Its box has
 * `data-read` and sends the event `read` once its end was in sight.
 */
export function exact(text) {
  const count = [...text].length
  return html`<ol class="exact" tabindex="0" aria-label="Exact text" @scroll=${({ target }) => noteEnd(target)} ${ref(watch)}>${linesIn(
    text,
  ).map(({ number, pieces }) => html`<li dir="ltr" value=${number}>${pieces}</li>`)}</ol>
    <p class="dim">${counted(text.split('\n').length, 'line')}, ${counted(count, 'character')}, shown whole.</p>`
}

/** A text exactly as it is, within a line of other words. */
export const exactWords = (text) =>
  html`<bdi class="line words" dir="ltr">${linesIn(text).map(({ pieces }, at) => [at > 0 ? '\n' : '', pieces])}</bdi>`

/** The lines of a text as they are shown. Many blank lines in a row are one. */
function linesIn(text) {
  const lines = text.split('\n')
  const found = []
  for (let at = 0, next; at < lines.length; at = next) {
    next = at
    while (next < lines.length && lines[next].trim() === '' && !lines[next].match(inexact)) next++
    const blank = next - at
    const isFolded = blank > blankLinesMax
    if (!isFolded) next = at + 1
    const pieces = isFolded ? html`<mark>⟨${counted(blank, 'empty line')}⟩</mark>` : spelled(lines[at])
    found.push({ number: at + 1, pieces })
  }
  return found
}

function spelled(one) {
  const pieces = []
  let from = 0
  for (const { 0: found, index } of one.matchAll(hidden)) {
    const words = found.length > blanksMax ? `⟨${counted(found.length, 'blank')}⟩` : codePoint(found)
    pieces.push(one.slice(from, index), html`<mark>${words}</mark>`)
    from = index + found.length
  }
  return [...pieces, one.slice(from)]
}

const boxes = new ResizeObserver((changes) => {
  for (const { target } of changes) noteEnd(target)
})
const watch = (box) => box && boxes.observe(box)

/** A box that does not scroll shows its end at once. One that is not shown has no height. */
function noteEnd(box) {
  const { scrollTop, clientHeight, scrollHeight, dataset } = box
  if (clientHeight === 0 || 'read' in dataset || scrollTop + clientHeight < scrollHeight - 2) return
  dataset.read = ''
  boxes.unobserve(box)
  box.dispatchEvent(new Event('read', { bubbles: true }))
}

const codePoint = (char) => `⟨U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`

/** Facts in one line; undefined ones are left out. */
export const facts = (some) =>
  html`<p class="facts">${some.filter(Boolean).map((fact, at) => html`${at > 0 ? ' · ' : nothing}${fact}`)}</p>`

/** `1 line`, `1,234 lines` */
export const counted = (count, noun, many = `${noun}s`) => `${count.toLocaleString('en')} ${count === 1 ? noun : many}`

/** A text of anybody in one line, cut. */
export function line(text, max = 120) {
  const one = plain(String(text ?? '').slice(0, max * 2))
    .replace(/\s+/g, ' ')
    .trim()
  return html`<bdi class="line">${one.length > max ? `${one.slice(0, max)}…` : one}</bdi>`
}

/** A text of anybody, with its lines. Of a long one the beginning, and the rest when it is opened. */
export function say(text, max = shownMax) {
  const whole = String(text ?? '')
  if (whole === '') return nothing
  if (whole.length <= max) return html`<p class="said" dir="auto">${plain(whole)}</p>`
  const all = (event) => {
    const place = event.target.querySelector('.said')
    if (event.target.open && place.textContent === '') place.textContent = plain(whole.slice(0, allMax))
  }
  return html`<p class="said" dir="auto">${plain(whole.slice(0, max))}…</p>
    <details @toggle=${all}><summary>All ${whole.length.toLocaleString('en')} characters</summary>
      <p class="said all" dir="auto" tabindex="0"></p></details>`
}

/** An error in words, and a button that tries again. */
export const failed = (error, again) =>
  html`<div class="failure" role="alert">${say(error)}<button @click=${again}>Try again</button></div>`

/** The texts, data and files of a message or an artifact. */
export function parts(list = [], max = shownMax) {
  return list.map(({ text, data, url, raw, filename, mediaType }) => {
    if (text !== undefined) return say(text, max)
    if (data !== undefined) return html`<div class="code">${say(JSON.stringify(data, null, 2), max)}</div>`
    const name = [filename, mediaType].filter(Boolean).join(', ')
    // An address of a peer is shown and not made a link: nobody opens it by mistake.
    if (url !== undefined) return html`<p class="said">File: ${line(url, 500)} ${line(name)}</p>`
    return html`<p class="said">File of ${String(raw ?? '').length} characters in base64. ${line(name)}</p>`
  })
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** The time since an instant: `3 min`. */
export const ageOf = (iso) => lengthOf(Math.max(1_000, Math.abs(now() - Date.parse(iso))))

/** A time in ms in its largest unit: `3 min`. */
export function lengthOf(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const [unit, unitMs] = units.find(([, one]) => ms >= one)
  return `${Math.floor(ms / unitMs)} ${unit}`
}

/** An instant as its age, and on hover as it is. */
export function when(iso) {
  if (!iso) return html`<span class="dim">never</span>`
  const isAhead = Date.parse(iso) > now() + 1_000
  return stamp(iso, isAhead ? `in ${ageOf(iso)}` : `${ageOf(iso)} ago`)
}

/** An instant as its age without a word, for a column. */
export const age = (iso) => (iso ? stamp(iso, ageOf(iso)) : nothing)

const stamp = (iso, words) => html`<time datetime=${iso} title=${new Date(iso).toLocaleString()}>${words}</time>`

/** An instant to the second. */
export function clockTime(iso) {
  return html`<time datetime=${iso} title=${iso}>${new Date(iso).toLocaleTimeString([], { hour12: false })}</time>`
}

/** The end of an id: ids of one minute begin alike. */
export const short = (id) => `…${String(id).slice(-6)}`

export const chip = (word, tone = '') => html`<span class="chip ${tone}">${word}</span>`

/** A word of state with its tone. */
export function state(word) {
  return chip(word, toneOf(word))
}

export const toneOf = (word) => tones[word] ?? ''

const tones = {
  submitted: '',
  working: 'busy',
  active: 'good',
  completed: 'good',
  delivered: 'good',
  written: 'good',
  live: 'good',
  enabled: 'good',
  idle: 'good',
  'input-required': 'ask',
  'auth-required': 'ask',
  waitingOnApproval: 'ask',
  waiting: 'ask',
  pending: 'busy',
  retrying: 'ask',
  paused: 'ask',
  failed: 'bad',
  rejected: 'bad',
  degraded: 'bad',
  tripped: 'bad',
  canceled: 'bad',
  userTyping: 'busy',
}
