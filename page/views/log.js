import { get } from '../api.js'
import { filterBy, linkTo } from '../router.js'
import { clockTime, line, plain, short, state } from '../show.js'
import { hear as learn, readSubjects, subjectOf } from '../subjects.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { searchField, sifted } from './list.js'

export const title = 'Live log'

const keptMax = 500
const readMax = 200
let events = []
/** False: what happened before the page was opened was not read yet. */
let wasRead = false
let isHeld = false

/** Reads the newest events once; then `hear` adds those that come. */
export async function load() {
  if (!wasRead) {
    const { lastLogId } = await get('/v1/events', { limit: 1 })
    const page = await get('/v1/events', { since: Math.max(0, lastLogId - readMax), limit: readMax }).catch((error) => {
      // The log does not go back so far.
      if (error.status !== 400 && error.status !== 409 && error.status !== 410) throw error
      return get('/v1/events', { limit: readMax })
    })
    for (const event of page.events) learn(event)
    add(page.events)
    wasRead = true
  }
  await readSubjects(events.map(({ taskId }) => taskId))
  return events
}

export function hear(event) {
  if (!isHeld) add([event])
}

/** Forgets what one reader has seen before the next one signs in. */
export function forget() {
  events = []
  wasRead = false
}

function add(more) {
  const known = new Set(events.map(({ logId }) => logId))
  events = [...more.filter(({ logId }) => !known.has(logId)), ...events]
    .sort((one, other) => other.logId - one.logId)
    .slice(0, keptMax)
}

export function view(shown, { query, reload }) {
  const { type = '', actor = '', q = '' } = query
  const wanted = shown.filter(
    (event) =>
      event.type.startsWith(type) &&
      nameOf(event).includes(actor) &&
      sifted(q, event.type, nameOf(event), aboutOf(event), JSON.stringify(event.data)),
  )
  const set = ({ target }) => target.name && filterBy({ [target.name]: target.value.trim() })
  const hold = () => {
    isHeld = !isHeld
    if (!isHeld) forget()
    reload()
  }
  return html`<form class="row bar" @submit=${(event) => event.preventDefault()} @change=${set}>
      ${searchField(q, 'Search these events')}
      <label>Type<input name="type" list="types" .value=${type} placeholder="task." autocomplete="off" size="14"></label>
      <datalist id="types">${[...new Set(shown.map((event) => event.type))].sort().map((one) => html`<option value=${one}></option>`)}</datalist>
      <label>Actor<input name="actor" .value=${actor} placeholder="@donna" autocomplete="off" size="10"></label>
      <button type="button" aria-pressed=${isHeld ? 'true' : 'false'} @click=${hold}>${isHeld ? 'Go on' : 'Hold still'}</button></form>
    <p class="dim">The newest ${keptMax} events at most, the newest first.</p>
    <ol class="plain log">${repeat(wanted, ({ logId }) => logId, row)}</ol>
    ${wanted.length === 0 ? html`<p class="empty">No events here.</p>` : nothing}`
}

const nameOf = ({ actor, data }) => (data.person ? `${data.person} ${actor}` : actor)
const aboutOf = ({ taskId, data }) =>
  subjectOf(taskId) || data.subject || data.ref || data.tool || data.agent || data.reason || ''

function row(event) {
  const { logId, type, actor, taskId, data, createdAt } = event
  const about = aboutOf(event)
  const places = [
    ['tasks', taskId],
    ['threads', data.threadId],
    ['needs', data.approvalId],
  ]
  const place = places.find(([, id]) => id)
  const link = place && linkTo(...place)
  return html`<li>${clockTime(createdAt)} <span class="dim id">${logId}</span><details @toggle=${showData(data)}><summary><strong>${type}</strong> ${line(data.person ?? actor, 60)}
    ${data.newState ? state(data.newState) : nothing}</summary><div class="code"><p class="said"></p></div></details>
    ${link ? html`<a href=${link}>${line(about || `task ${short(taskId)}`, 100)}</a>` : html`<span>${line(about, 100)}</span>`}</li>`
}

/** The data of an event is written out when somebody opens it: there are hundreds of events, and each reading draws them anew. */
const showData = (data) => (event) => {
  const place = event.target.querySelector('.said')
  if (event.target.open && place.textContent === '') place.textContent = plain(JSON.stringify(data, null, 2))
}
