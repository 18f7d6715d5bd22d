import { currentProject, get, Refused, readable, useProject } from './api.js'
import { note } from './dialog.js'
import { ownDrafts } from './drafts.js'
import { currentKey, whenSignedOut } from './key.js'
import { followKeys } from './keyboard.js'
import { follow } from './live.js'
import { readPlace } from './router.js'
import { shell, titleOf, waiting } from './shell.js'
import { refuse, signInForm, takeKeyOfOtherTabs, takeLink } from './sign-in.js'
import * as subjects from './subjects.js'
import { counts, countsOf } from './urgency.js'
import { render } from './vendor/lit.js'
import * as agent from './views/agent.js'
import * as agents from './views/agents.js'
import * as claims from './views/claims.js'
import * as deliveries from './views/deliveries.js'
import * as delivery from './views/delivery.js'
import * as figures from './views/figures.js'
import * as log from './views/log.js'
import * as mail from './views/mail.js'
import * as needs from './views/needs.js'
import * as task from './views/task.js'
import * as tasks from './views/tasks.js'
import * as thread from './views/thread.js'
import * as write from './views/write.js'
import * as you from './views/you.js'

const views = { needs, agents, tasks, mail, deliveries, claims, log, figures, write, you }
const ofOne = { needs, agents: agent, tasks: task, threads: thread, deliveries: delivery }
const viewOf = ({ name, id }) => (id === undefined ? views[name] : ofOne[name]) ?? null
const memories = [log, agent, needs, thread, subjects]

const refreshMs = 400
/** At least so long from one reading to the next, however much happens. */
const pauseMs = 2_000
const rereadMs = 30_000
const againMs = 2_000
/** The end of a wake is no event: after one, a view that shows open wakes is read so many times more. */
const settleMax = 5

const noStops = { count: 0, atLeast: false }
const nobody = {
  caller: null,
  view: null,
  data: null,
  failure: null,
  needs: null,
  stops: noStops,
  isLive: false,
  projects: [],
}
const app = { place: readPlace(), ...nobody }
const root = document.querySelector('#app')

/** The tools that a view gets beside its data. */
const tools = {
  act,
  draw,
  reload: () => showPlace(true),
  may: (scope) => app.caller?.scopes.includes(scope) ?? false,
  /** The answer of GET /v1/needs, as it was read last; null: it was not. */
  get needs() {
    return app.needs
  },
  readNeeds: () => needsRead ?? readNeeds(),
  changeProject(project) {
    useProject(project)
    restart()
  },
  get caller() {
    return app.caller
  },
  get projects() {
    return app.projects
  },
  get id() {
    return app.place.id
  },
  get query() {
    return app.place.query
  },
}

/** Does something that changes the gateway, says how it went, and reads again what is shown. Returns whether it was done. `after` runs between. */
async function act(done, change, { undo, after } = {}) {
  try {
    const answer = await change()
    note(typeof done === 'function' ? done(answer) : done, { undo })
    after?.(answer)
    await refresh(true)
    return true
  } catch (error) {
    if (app.caller === null) return false
    note(error.message, { isError: true })
    if (!(error instanceof Refused)) console.error(error)
    // Somebody else was first: what they did is shown.
    if (error.status === 409) await refresh(true)
    return false
  }
}

function draw() {
  const { caller, failure, stops, view, data } = app
  if (caller)
    render(
      shell(app, tools, () => void showPlace()),
      root,
    )
  else render(currentKey() !== null && failure ? waiting(failure) : signInForm(begin), root)
  const title = caller ? `${titleOf(view, tools, data)} · Rouse` : 'Rouse'
  document.title = stops.count > 0 ? `(${counts(stops)}) ${title}` : title
}

let showing = 0
let settling = settleMax

/** Reads what the address names, and shows it. `isReread`: nobody has asked for it, so what is shown stays until it is read. */
async function showPlace(isReread = false) {
  const turn = ++showing
  const place = readPlace()
  const view = viewOf(place)
  const isNew = view !== app.view || (place.id !== app.place.id && !view?.isWide)
  Object.assign(app, { place, view, failure: isReread ? app.failure : null }, isNew ? { data: null } : {})
  if (isNew || !isReread) draw()
  if (!view) return
  try {
    const data = await view.load(tools)
    if (turn !== showing) return
    Object.assign(app, { data, failure: null })
  } catch (error) {
    if (turn !== showing || app.caller === null) return
    app.failure = error.message
    isStale = true
    if (!(error instanceof Refused)) console.error(error)
  }
  draw()
  if (app.data === null) return
  view.shown?.(app.data, tools)
  if (settling-- > 0 && view.isUnsettled?.(app.data)) {
    isStale = true
    refreshSoon()
  }
}

/** True when something has happened that the view may show. */
let isStale = false
/** The reading of the needs that runs, or that has just ended. */
let needsRead = null

/** Reads what waits for a person, which every view has beside its own. Without an answer the number stays as it is. */
function readNeeds() {
  const reading = get('/v1/needs').then((found) => {
    if (app.caller !== null) Object.assign(app, { needs: found, stops: countsOf(found).stops })
    return found
  })
  needsRead = reading
  const over = () => {
    if (needsRead === reading) needsRead = null
  }
  reading.then(over, over)
  return reading
}

/** Reads the needs again, and the view where it is stale. A hidden tab keeps its number only. */
async function refresh(isForced = false) {
  if (app.caller === null) return
  readAt = Date.now()
  const shows = (isForced || isStale) && !document.hidden
  if (shows) isStale = false
  const reading = readNeeds().catch(() => null)
  await Promise.all([reading, ...(shows ? [showPlace(true)] : [])])
  if (app.caller !== null) draw()
}

let due
let readAt = 0

/** Has what is shown read again soon, once for many events. */
function refreshSoon() {
  if (due !== undefined) return
  const over = () => {
    due = undefined
    void refresh()
  }
  due = setTimeout(over, Math.max(refreshMs, readAt + pauseMs - Date.now()))
}

function hear(event) {
  settling = settleMax
  for (const memory of memories) memory.hear?.(event)
  if (app.view?.listens?.(event, tools) ?? true) isStale = true
  refreshSoon()
}

let session = new AbortController()

/** Signs in with the key that is there, however long the gateway is away. */
async function begin() {
  await takeKeyOfOtherTabs()
  if (currentKey() === null) return draw()
  session.abort()
  session = new AbortController()
  const { signal } = session
  while (app.caller === null) {
    try {
      const caller = await get('/v1/whoami')
      const isOperator = caller.kind === 'operator'
      const { projects } = isOperator ? await readable(get('/v1/projects'), { projects: [] }) : { projects: [] }
      if (signal.aborted) return
      Object.assign(app, { caller, projects, failure: null })
    } catch (error) {
      // Signed out meanwhile, by 401 or by hand.
      if (signal.aborted) return
      app.failure = error.message
      // The project that was chosen is no longer there.
      if (error.status === 404 && currentProject() !== null) sessionStorage.removeItem('rouse-project')
      draw()
      await new Promise((resolve) => setTimeout(resolve, againMs))
      if (signal.aborted) return
    }
  }
  const { identity, keyId, project, name } = app.caller
  ownDrafts(`${project} ${identity} ${name ?? ''}`)
  void follow({
    name: `rouse-log ${project} ${identity} ${keyId}`,
    signal,
    onEvent: hear,
    onState(isLive) {
      app.isLive = isLive
      isStale = true
      draw()
      // Without a stream the key may be of no use any more: the next reading says so.
      refreshSoon()
    },
  })
  await refresh(true)
}

/** Forgets what one reader has seen before the next one signs in. */
function end(isRefused) {
  const wasKnown = app.caller !== null
  session.abort()
  for (const memory of memories) memory.forget?.()
  needsRead = null
  Object.assign(app, nobody)
  if (isRefused) refuse(wasKnown ? 'This key is not valid any more.' : 'The gateway does not know this key.')
  draw()
}

/** Begins anew with the key that is kept, as after a link or in another project. */
function restart() {
  end()
  void begin()
}

whenSignedOut(end)
followKeys(() => (app.caller === null ? {} : (app.view?.keys?.(app.data, tools) ?? {})))
addEventListener('hashchange', async () => {
  if (await takeLink()) return restart()
  if (app.caller === null) return
  const { view, place } = app
  await showPlace()
  // A view that keeps its list keeps the focus too.
  if (app.view !== view || (app.place.id !== place.id && !view?.isWide)) document.querySelector('#main')?.focus()
})
addEventListener('sifted', () => {
  app.place = readPlace()
  draw()
})
// Ages grow, and some things wait for too long without any event.
setInterval(() => void refresh(app.view?.listens === undefined || app.view.isTimed), rereadMs)
setInterval(() => !document.hidden && draw(), 5_000)
addEventListener('visibilitychange', () => void refresh())
navigator.serviceWorker?.addEventListener('message', ({ data }) => {
  if (typeof data?.place === 'string') location.hash = data.place
})
void takeLink().then(begin)
