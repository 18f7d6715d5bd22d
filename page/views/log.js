import { get } from '../api.js'
import { filterBy, linkTo } from '../router.js'
import { clockTime, line, plain, short } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'

export const title = 'Live log'

const keptMax = 500
let events = []
let isHeld = false

/** Reads the newest events once; then `hear` adds those that come. */
export async function load() {
  if (events.length === 0) {
    const { lastLogId } = await get('/v1/events', { limit: 1 })
    const page = await get('/v1/events', { since: Math.max(0, lastLogId - 200), limit: 200 }).catch(() =>
      get('/v1/events', { limit: 200 }),
    )
    add(page.events)
  }
  return events
}

export function hear(event) {
  if (!isHeld) add([event])
}

/** Forgets what one reader has seen before the next one signs in. */
export function forget() {
  events = []
}

function add(more) {
  const known = new Set(events.map(({ logId }) => logId))
  events = [...more.filter(({ logId }) => !known.has(logId)), ...events]
    .sort((one, other) => other.logId - one.logId)
    .slice(0, keptMax)
}

export function view(shown, { query, reload }) {
  const { type = '', actor = '' } = query
  const wanted = shown.filter((event) => event.type.startsWith(type) && event.actor.includes(actor))
  const set = ({ target }) => filterBy({ [target.name]: target.value.trim() })
  const hold = () => {
    isHeld = !isHeld
    if (!isHeld) events = []
    reload()
  }
  return html`<form class="row" @submit=${(event) => event.preventDefault()} @change=${set}>
      <label>Type<input name="type" list="types" .value=${type} placeholder="task." autocomplete="off"></label>
      <datalist id="types">${[...new Set(shown.map((event) => event.type))].sort().map((one) => html`<option value=${one}></option>`)}</datalist>
      <label>Actor<input name="actor" .value=${actor} placeholder="@donna" autocomplete="off"></label>
      <button type="button" aria-pressed=${isHeld ? 'true' : 'false'} @click=${hold}>${isHeld ? 'Go on' : 'Hold still'}</button></form>
    <p class="dim">The newest ${keptMax} events at most, the newest first.</p>
    <ol class="plain log">${repeat(wanted, ({ logId }) => logId, row)}</ol>
    ${wanted.length === 0 ? html`<p class="empty">No events here.</p>` : nothing}`
}

const row = ({
  logId,
  type,
  actor,
  taskId,
  data,
  createdAt,
}) => html`<li><details @toggle=${showData(data)}><summary>${clockTime(createdAt)} <span class="dim">${logId}</span> <strong>${type}</strong> ${line(actor)}
    ${type === 'task.state_changed' ? html`→ ${data.newState}` : line(data.subject ?? data.reason ?? '', 60)}</summary>
  ${taskId ? html`<a href=${linkTo('tasks', taskId)}>Task ${short(taskId)}</a>` : nothing}
  <div class="code"><p class="said"></p></div></details></li>`

/** The data of an event is written out when somebody opens it: there are hundreds of events, and each reading draws them anew. */
const showData = (data) => (event) => {
  const place = event.target.querySelector('.said')
  if (event.target.open && place.textContent === '') place.textContent = plain(JSON.stringify(data, null, 2))
}
