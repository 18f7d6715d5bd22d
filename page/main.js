import { get, Refused, readable, useProject } from './api.js'
import { note } from './dialog.js'
import { currentKey, keyOfOtherTabs, signOut, whenSignedOut } from './key.js'
import { follow } from './live.js'
import { linkTo, readPlace } from './router.js'
import { line, say } from './show.js'
import { signInForm, takeLink } from './sign-in.js'
import { html, nothing, render } from './vendor/lit.js'
import * as agent from './views/agent.js'
import * as agents from './views/agents.js'
import * as deliveries from './views/deliveries.js'
import * as figures from './views/figures.js'
import * as log from './views/log.js'
import * as needs from './views/needs.js'
import * as task from './views/task.js'
import * as tasks from './views/tasks.js'
import * as thread from './views/thread.js'
import * as write from './views/write.js'

const menu = { needs, agents, tasks, deliveries, write, log, figures }
const ofOne = { agents: agent, tasks: task, threads: thread }
const viewOf = ({ name, id }) => (id === undefined ? menu[name] : ofOne[name]) ?? null

const refreshMs = 400
/** At least so long from one reading to the next, however much happens. */
const pauseMs = 2_000
const rereadMs = 30_000

const app = {
  caller: null,
  place: readPlace(),
  view: null,
  data: null,
  failure: null,
  needs: 0,
  /** '+': there are more than are counted. */
  plus: '',
  isLive: false,
  projects: [],
}
const root = document.querySelector('#app')

/** The tools that a view gets beside its data. */
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
    await refresh(true)
    return true
  } catch (error) {
    note(error.message, true)
    if (!(error instanceof Refused)) console.error(error)
    return false
  }
}

function draw() {
  render(app.caller ? page() : currentKey() !== null && app.failure ? waiting() : signInForm(begin), root)
}

/** The page of a key whose reader is not known yet: no gateway has answered. */
const waiting = () => html`<main class="sign-in"><h1>Rouse</h1>
  <div class="failure" role="alert">${say(app.failure)}</div>
  <p class="dim">Trying again …</p>
  <button @click=${signOut}>Sign out</button></main>`

function page() {
  const { caller, place, view, data, failure, isLive } = app
  return html`<header>
      <a class="skip" href="#main" @click=${toMain}>Skip to the content</a>
      <strong>Rouse</strong>
      <nav aria-label="Pages">${Object.entries(menu).map(
        ([name, { title }]) => html`<a href=${linkTo(name)} aria-current=${place.name === name ? 'page' : 'false'}
        >${title}${name === 'needs' && app.needs > 0 ? html` <span class="badge" aria-label="${app.needs}${app.plus} waiting">${app.needs}${app.plus}</span>` : nothing}</a>`,
      )}</nav>
      <span class="who">${isLive ? html`<span class="dot good"></span>live` : html`<span class="dot"></span>not live`} · ${line(caller.identity)} ${projectChoice()}
        <button @click=${signOut}>Sign out</button></span>
    </header>
    <main id="main" tabindex="-1"><h1>${titleOf(view)}</h1>
      ${failure ? html`<div class="failure" role="alert">${say(failure)}<button @click=${() => showPlace()}>Try again</button></div>` : nothing}
      ${data === null ? (failure ? nothing : html`<p class="dim">Reading…</p>`) : view.view(data, tools)}</main>`
}

/** An operator of several projects chooses one. */
function projectChoice() {
  const { projects, caller } = app
  if (projects.length < 2) return caller.project === 'default' ? nothing : line(caller.project)
  const choose = ({ target }) => {
    useProject(target.value)
    restart()
  }
  return html`<select aria-label="Project" @change=${choose}>
    ${projects.map(({ project }) => html`<option ?selected=${project === caller.project}>${project}</option>`)}</select>`
}

function toMain(event) {
  event.preventDefault()
  document.querySelector('#main').focus()
}

const titleOf = (view) => (typeof view?.title === 'function' ? view.title(tools) : (view?.title ?? 'No such page'))

let showing = 0

/** Reads what the address names, and shows it. `isReread`: nobody has asked for it, so what is shown stays until it is read. */
async function showPlace(isReread = false) {
  const turn = ++showing
  const place = readPlace()
  const isNew = place.name !== app.place.name || place.id !== app.place.id || app.view === null
  Object.assign(app, { place, view: viewOf(place), failure: null }, isNew ? { data: null } : {})
  if (isNew || !isReread) draw()
  document.title = `${app.needs > 0 ? `(${app.needs}${app.plus}) ` : ''}${titleOf(app.view)} · Rouse`
  if (!app.view) return
  try {
    const data = await app.view.load(tools)
    if (turn !== showing) return
    app.data = data
  } catch (error) {
    if (turn !== showing || app.caller === null) return
    app.failure = error.message
    isStale = true
    if (!(error instanceof Refused)) console.error(error)
  }
  draw()
}

/** True when something has happened that the view may show. */
let isStale = false

/** Reads the number of needs again, and the view where it is stale. A hidden tab keeps its number only. */
async function refresh(isForced = false) {
  if (app.caller === null) return
  readAt = Date.now()
  const shows = (isForced || isStale) && !document.hidden
  if (shows) isStale = false
  const [found] = await Promise.all([get('/v1/needs').catch(() => null), ...(shows ? [showPlace(true)] : [])])
  // Without an answer the number stays as it is.
  if (found === null || app.caller === null) return
  const all = Object.values(found.total).reduce((sum, one) => sum + one, 0)
  const count = all - found.needs.filter(({ snoozedUntil }) => snoozedUntil).length
  if (count === app.needs) return
  app.needs = count
  app.plus = found.atLeast.length > 0 ? '+' : ''
  document.title = `${app.needs > 0 ? `(${app.needs}${app.plus}) ` : ''}${titleOf(app.view)} · Rouse`
  draw()
}

let due
let readAt = 0

/** Has what is shown read again soon, once for many events. */
function refreshSoon() {
  if (due !== undefined) return
  due = setTimeout(
    () => {
      due = undefined
      void refresh()
    },
    Math.max(refreshMs, readAt + pauseMs - Date.now()),
  )
}

function hear(event) {
  log.hear(event)
  agent.hear(event)
  if (app.view?.listens?.(event) ?? true) isStale = true
  refreshSoon()
}

let session = new AbortController()
const againMs = 2_000

/** Signs in with the key that is there, however long the gateway is away. Returns whether the gateway knows it. */
async function begin() {
  if ((await keyOfOtherTabs()) === null) return draw()
  session.abort()
  session = new AbortController()
  const { signal } = session
  while (app.caller === null) {
    try {
      const caller = await get('/v1/whoami')
      const isOperator = caller.kind === 'operator'
      const { projects } = isOperator ? await readable(get('/v1/projects'), { projects: [] }) : { projects: [] }
      if (signal.aborted) return true
      Object.assign(app, { caller, projects, failure: null })
    } catch (error) {
      // Signed out meanwhile, by 401 or by hand.
      if (signal.aborted) return error.status !== 401
      app.failure = error.message
      draw()
      await new Promise((resolve) => setTimeout(resolve, againMs))
      if (signal.aborted) return true
    }
  }
  const { identity, keyId, project } = app.caller
  void follow({
    name: `rouse-log ${project} ${identity} ${keyId}`,
    signal,
    onEvent: hear,
    onState(isLive) {
      app.isLive = isLive
      isStale = true
      if (isLive) refreshSoon()
      else draw()
    },
  })
  await refresh(true)
  return true
}

/** Forgets what one reader has seen before the next one signs in. */
function end() {
  session.abort()
  log.forget()
  agent.forget()
  Object.assign(app, { caller: null, data: null, failure: null, needs: 0, isLive: false, view: null, projects: [] })
  document.title = 'Rouse'
  draw()
}

/** Begins anew with the key that is kept, as after a link or in another project. */
function restart() {
  end()
  void begin()
}

whenSignedOut(end)
addEventListener('hashchange', async () => {
  if (await takeLink()) return restart()
  if (app.caller === null) return
  void showPlace().then(() => document.querySelector('#main')?.focus())
})
// Ages grow, and some things wait for too long without any event.
setInterval(() => void refresh(app.view?.listens === undefined), rereadMs)
addEventListener('visibilitychange', () => void refresh())
void takeLink().then(begin)
