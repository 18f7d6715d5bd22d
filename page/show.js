import { html, nothing } from './vendor/lit.js'

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
    .replace(unseen, (char) => `⟨U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
}

/** A text of anybody in one line, cut. */
export function line(text, max = 120) {
  const one = plain(String(text ?? '').slice(0, max * 2))
    .replace(/\s+/g, ' ')
    .trim()
  return html`<bdi class="line">${one.length > max ? `${one.slice(0, max)}…` : one}</bdi>`
}

/** A text of anybody, with its lines. Of a long one the beginning, and the rest when it is opened. */
export function say(text) {
  const whole = String(text ?? '')
  if (whole === '') return nothing
  if (whole.length <= shownMax) return html`<p class="said" dir="auto">${plain(whole)}</p>`
  const all = (event) => {
    const place = event.target.querySelector('.said')
    if (event.target.open && place.textContent === '') place.textContent = plain(whole.slice(0, allMax))
  }
  return html`<p class="said" dir="auto">${plain(whole.slice(0, shownMax))}…</p>
    <details @toggle=${all}><summary>All ${whole.length.toLocaleString('en')} characters</summary>
      <p class="said all" dir="auto" tabindex="0"></p></details>`
}

/** The texts, data and files of a message or an artifact. */
export function parts(list = []) {
  return list.map(({ text, data, url, raw, filename, mediaType }) => {
    if (text !== undefined) return say(text)
    if (data !== undefined) return html`<div class="code">${say(JSON.stringify(data, null, 2))}</div>`
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
export function ageOf(iso, now = Date.now()) {
  const ms = Math.abs(now - Date.parse(iso))
  const [unit, unitMs] = units.find(([, one]) => ms >= one) ?? ['s', 1_000]
  return `${Math.floor(ms / unitMs)} ${unit}`
}

/** An instant as its age, and on hover as it is. */
export function when(iso) {
  if (!iso) return html`<span class="dim">never</span>`
  const age = ageOf(iso)
  const isAhead = Date.parse(iso) > Date.now() + 1_000
  return html`<time datetime=${iso} title=${new Date(iso).toLocaleString()}>${isAhead ? `in ${age}` : `${age} ago`}</time>`
}

/** An instant to the second. */
export function clockTime(iso) {
  return html`<time datetime=${iso} title=${iso}>${new Date(iso).toLocaleTimeString()}</time>`
}

/** The end of an id: ids of one minute begin alike. */
export const short = (id) => `…${String(id).slice(-6)}`

export const chip = (word, tone = '') => html`<span class="chip ${tone}">${word}</span>`

/** A word of state with its tone. */
export function state(word) {
  return chip(word, tones[word] ?? '')
}

const tones = {
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
