import { signOut } from './push.js'
import { linkTo } from './router.js'
import { line, say } from './show.js'
import { counts } from './urgency.js'
import { html, nothing } from './vendor/lit.js'

/** The pages of the menu. A phone has the first ones at the bottom, and the others behind "More". */
const menu = [
  ['needs', 'Needs you', 'Needs'],
  ['agents', 'Agents', 'Agents'],
  ['tasks', 'Tasks', 'Tasks'],
  ['mail', 'Mail'],
  ['deliveries', 'Deliveries'],
  ['claims', 'Claims'],
  ['log', 'Log'],
  ['figures', 'Figures'],
]
const first = 3
/** Views that stand in the menu under the name of another one. */
const under = { threads: 'mail', write: 'mail' }

/** The pages that a phone has no room for at the bottom. */
export const morePages = () =>
  html`<nav class="more" aria-label="More pages">${menu.slice(first).map(([name, title]) => html`<a href=${linkTo(name)}>${title}</a>`)}</nav>`

/** The name of a reader: of a person where the key has one. */
export const nameOf = ({ name, identity }) => name ?? identity

/** The page around a view. */
export function shell({ caller, place, view, data, failure, isLive, stops }, tools, reload) {
  const current = under[place.name] ?? place.name
  const isCurrent = (name) => (current === name ? 'page' : nothing)
  const badge =
    stops.count > 0
      ? html`<span class="badge" aria-label="${counts(stops)} stop work">${counts(stops)}</span>`
      : nothing
  const live = html`<span class=${isLive ? 'dot good' : 'dot'}></span>${isLive ? 'live' : 'not live'}`
  const link = ([name, title]) =>
    html`<a href=${linkTo(name)} aria-current=${isCurrent(name)}>${title}${name === 'needs' ? badge : nothing}</a>`
  return html`<a class="skip" href="#main" @click=${toMain}>Skip to the content</a>
    <header class="rail"><a class="brand" href=${linkTo('needs')}>Rouse</a><nav aria-label="Pages">${menu.map(link)}</nav>
      <a class="who" href=${linkTo('you')} aria-current=${isCurrent('you')}><span>${live}</span> <span><strong>${line(nameOf(caller), 40)}</strong> · ${line(caller.project, 40)}</span></a></header>
    <main id="main" tabindex="-1" class=${view?.isWide ? 'panes' : 'page'}>
      ${view?.isWide ? nothing : html`<h1>${titleOf(view, tools, data)}</h1>`}
      ${failure ? html`<div class="failure" role="alert">${say(failure)}<button @click=${reload}>Try again</button></div>` : nothing}
      ${data === null ? (failure || !view ? nothing : html`<p class="dim reading">Reading…</p>`) : view.view(data, tools)}
      ${view ? nothing : html`<p class="empty">Nothing has this address. <a href=${linkTo('needs')}>Needs you</a></p>`}</main>
    <nav class="tabs" aria-label="Main pages">${menu.slice(0, first).map(([name, , title]) => link([name, title]))}
      <a href=${linkTo('you')} aria-current=${menu.slice(0, first).some(([name]) => name === current) ? nothing : 'page'}>More${isLive ? nothing : html` <span class="dot" title="not live"></span>`}</a></nav>`
}

/** The page of a key whose reader is not known yet: no gateway has answered. */
export const waiting = (failure) => html`<main class="sign-in"><h1>Rouse</h1>
  <div class="failure" role="alert">${say(failure)}</div>
  <p class="dim">Trying again …</p>
  <button @click=${signOut}>Sign out</button></main>`

function toMain(event) {
  event.preventDefault()
  document.querySelector('#main').focus()
}

/** The title of a view, as plain text. */
export function titleOf(view, tools, data) {
  return typeof view?.title === 'function' ? view.title(tools, data) : (view?.title ?? 'No such page')
}
