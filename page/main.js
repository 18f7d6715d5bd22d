import { get, Refused } from './api.js'
import { note } from './dialog.js'
import { currentKey, keep, keyOfOtherTabs, signOut, whenSignedOut } from './key.js'
import { follow } from './live.js'
import { linkTo, readPlace } from './router.js'
import { line, say } from './show.js'
import { html, nothing, render } from './vendor/lit.js'
import * as agent from './views/agent.js'
import * as agents from './views/agents.js'
import * as deliveries from './views/deliveries.js'
import * as figures from './views/figures.js'
import * as log from './views/log.js'
import * as needs from './views/needs.js'
import * as task from './views/task.js'
import * as thread from './views/thread.js'
import * as write from './views/write.js'

const menu = { needs, agents, deliveries, write, log, figures }
const ofOne = { agents: agent, tasks: task, threads: thread }
const viewOf = ({ name, id }) => (id === undefined ? menu[name] : ofOne[name]) ?? null

const refreshMs = 400
const rereadMs = 30_000

const app = { caller: null, place: readPlace(), view: null, data: null, failure: null, needs: 0, isLive: false }
const root = document.querySelector('#app')

/** What a view gets beside its data. */
const tools = {
  act,
  reload: () => showPlace(),
  may: (scope) => app.caller?.scopes.includes(scope) ?? false,
  get caller() {
    return app.caller
  },
  get id() {
    return app.place.id
  },
  get query() {
    return app.place.query
  },
}

/** Does something that changes the gateway, says how it went, and reads again what is shown. Returns whether it was done. */
async function act(done, change) {
  try {
    const answer = await change()
    note(typeof done === 'function' ? done(answer) : done)
    await refresh()
    return true
  } catch (error) {
    note(error.message, true)
    if (!(error instanceof Refused)) console.error(error)
    return false
  }
}

function draw() {
  render(app.caller ? page() : signIn(), root)
}

function page() {
  const { caller, place, view, data, failure, isLive } = app
  return html`<header>
      <a class="skip" href="#main" @click=${toMain}>Skip to the content</a>
      <strong>Rouse</strong>
      <nav aria-label="Pages">${Object.entries(menu).map(
        ([name, { title }]) => html`<a href=${linkTo(name)} aria-current=${place.name === name ? 'page' : 'false'}
        >${title}${name === 'needs' && app.needs > 0 ? html` <span class="badge" aria-label="${app.needs} waiting">${app.needs}</span>` : nothing}</a>`,
      )}</nav>
      <span class="who">${isLive ? html`<span class="dot good"></span>live` : html`<span class="dot"></span>not live`} · ${line(caller.identity)}
        <button @click=${signOut}>Sign out</button></span>
    </header>
    <main id="main" tabindex="-1"><h1>${titleOf(view)}</h1>
      ${failure ? html`<div class="failure" role="alert">${say(failure)}<button @click=${() => showPlace()}>Try again</button></div>` : nothing}
      ${data === null ? (failure ? nothing : html`<p class="dim">Reading…</p>`) : view.view(data, tools)}</main>`
}

function toMain(event) {
  event.preventDefault()
  document.querySelector('#main').focus()
}

const titleOf = (view) => (typeof view?.title === 'function' ? view.title(tools) : (view?.title ?? 'No such page'))

function signIn() {
  const enter = async (event) => {
    event.preventDefault()
    const field = event.target.elements.key
    keep(field.value.trim())
    field.value = ''
    if (!(await begin())) note('The gateway does not know this key.', true)
  }
  return html`<main class="sign-in"><h1>Rouse</h1>
    <form @submit=${enter}>
      <label for="key">Key of an agent or an operator</label>
      <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="rk_…">
      <button class="main">Sign in</button>
    </form>
    <p class="dim">The admin key is in <code>.rouse/admin.key</code>. You see what the key may see. It stays in this tab until you sign out or close it.</p></main>`
}

let showing = 0

/** Reads what the address names, and shows it. */
async function showPlace() {
  const turn = ++showing
  const place = readPlace()
  const isNew = place.name !== app.place.name || place.id !== app.place.id || app.view === null
  Object.assign(app, { place, view: viewOf(place), failure: null }, isNew ? { data: null } : {})
  draw()
  document.title = `${app.needs > 0 ? `(${app.needs}) ` : ''}${titleOf(app.view)} · Rouse`
  if (!app.view) return
  try {
    const data = await app.view.load(tools)
    if (turn !== showing) return
    app.data = data
  } catch (error) {
    if (turn !== showing || app.caller === null) return
    app.failure = error.message
    if (!(error instanceof Refused)) console.error(error)
  }
  draw()
}

/** Reads the number of needs and the current place again. */
async function refresh() {
  if (app.caller === null) return
  const [{ needs: waiting }] = await Promise.all([get('/v1/needs').catch(() => ({ needs: [] })), showPlace()])
  app.needs = waiting.length
  document.title = `${app.needs > 0 ? `(${app.needs}) ` : ''}${titleOf(app.view)} · Rouse`
  draw()
}

let due

/** Has what is shown read again soon, once for many events. */
function refreshSoon() {
  if (due !== undefined) return
  due = setTimeout(() => {
    due = undefined
    void refresh()
  }, refreshMs)
}

let session = new AbortController()

/** Signs in with the key that is there. Returns whether the gateway knows it. */
async function begin() {
  if ((await keyOfOtherTabs()) === null) return draw()
  try {
    app.caller = await get('/v1/whoami')
  } catch (error) {
    if (!(error instanceof Refused)) note(error.message, true)
    signOut()
    return false
  }
  session = new AbortController()
  void follow({
    signal: session.signal,
    onEvent(event) {
      log.hear(event)
      refreshSoon()
    },
    onState(isLive) {
      app.isLive = isLive
      if (isLive) refreshSoon()
      else draw()
    },
  })
  await refresh()
  return true
}

whenSignedOut(() => {
  session.abort()
  log.forget()
  Object.assign(app, { caller: null, data: null, needs: 0, isLive: false, view: null })
  document.title = 'Rouse'
  draw()
})
addEventListener('hashchange', () => {
  if (app.caller === null) return
  void showPlace().then(() => document.querySelector('#main')?.focus())
})
// Ages grow, and some things wait for too long without any event.
setInterval(() => {
  if (currentKey() !== null && document.visibilityState === 'visible') void refresh()
}, rereadMs)
void begin()
