import { get, readable } from '../api.js'
import { filterBy, linkTo } from '../router.js'
import { line, short, state, when } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { subject } from './agents.js'

export const title = 'Tasks'

const pageSize = 50
/** Tasks that a column of a board draws: the rest is a page of its own. */
const columnMax = 20

const columns = [
  ['Waiting', ['submitted']],
  ['Working', ['working']],
  ['Asks', ['input-required', 'auth-required']],
  ['Ended', ['completed', 'failed', 'canceled', 'rejected']],
]
const states = columns.flatMap(([, some]) => some)

export function load({ query }) {
  const { agent, state: only, page } = query
  return get('/v1/tasks', { agent, state: only, pageSize, pageToken: page, historyLength: 1 })
}

export function view({ tasks, totalSize, nextPageToken }, { query }) {
  const { agent = '', state: only = '', page } = query
  const set = ({ target }) => filterBy({ [target.name]: target.value.trim(), page: undefined })
  return html`<form class="row" @submit=${(event) => event.preventDefault()} @change=${set}>
      <label>State<select name="state"><option value="">all</option>${states.map((one) => html`<option value=${one} ?selected=${one === only}>${one}</option>`)}</select></label>
      <label>Agent<input name="agent" .value=${agent} placeholder="@donna" autocomplete="off" spellcheck="false"></label></form>
    <p class="dim">${counted(totalSize)} ${totalSize === 1 ? 'task' : 'tasks'}, ${pageSize} on a page, the newest change first.</p>
    ${tasks.length === 0 ? html`<p class="empty">No tasks here.</p>` : taskList(tasks)}
    <p class="row">${page ? html`<button @click=${() => filterBy({ page: undefined })}>Back to the newest</button>` : nothing}
      ${nextPageToken ? html`<button @click=${() => filterBy({ page: nextPageToken })}>Look further back</button>` : nothing}</p>`
}

/** Reads the tasks of an agent by state: the newest of each, and how many there are. */
export function loadBoard(agent) {
  const none = { tasks: [], totalSize: 0 }
  const read = (one) => readable(get('/v1/tasks', { agent, state: one, pageSize: columnMax, historyLength: 1 }), none)
  return Promise.all(
    columns.map(async ([name, some]) => {
      const lists = await Promise.all(some.map(read))
      const newest = lists
        .flatMap(({ tasks }) => tasks)
        .sort((one, other) => (one.lastModifiedAt < other.lastModifiedAt ? 1 : -1))
      const counts = lists.map(({ totalSize }, at) => [some[at], totalSize]).filter(([, count]) => count > 0)
      return { name, tasks: newest.slice(0, columnMax), counts }
    }),
  )
}

export function board(agent, all) {
  return html`<div class="board">${all.map(
    ({ name, tasks, counts }) => html`<section aria-label=${name}><h3>${name}</h3>
    ${counts.length === 0 ? html`<p class="dim">none</p>` : counts.map(([one, count]) => html`<a class="dim" href=${linkTo('tasks', undefined, { agent, state: one })}>${one} ${counted(count)}</a> `)}
    ${taskList(tasks)}</section>`,
  )}</div>`
}

export const taskList = (tasks) => html`<ul class="plain">${repeat(tasks, ({ id }) => id, taskItem)}</ul>`

const taskItem = (
  task,
) => html`<li class="card"><a href=${linkTo('tasks', task.id)}>${short(task.id)}</a> ${state(task.state)}
  <div>${line(subject(task), 90)}</div><div class="dim">${line(task.originator)} → ${line(task.assignee)} · ${when(task.lastModifiedAt)}</div></li>`

const counted = (count) => count.toLocaleString('en')
