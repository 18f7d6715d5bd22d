import { get, readable } from '../api.js'
import { filterBy, linkTo } from '../router.js'
import { age, counted, line, state } from '../show.js'
import { learnTask, readSubjects, subjectOf } from '../subjects.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { searchField, sifted } from './list.js'

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

export const listens = ({ type }) => type.startsWith('task.')

export async function load({ query }) {
  const { agent, state: only, page, order } = query
  const found = await get('/v1/tasks', { agent, state: only, order, pageSize, pageToken: page, historyLength: 1 })
  await nameTasks(found.tasks)
  return found
}

async function nameTasks(tasks) {
  for (const task of tasks) learnTask(task)
  await readSubjects(tasks.map(({ id }) => id))
}

export function view({ tasks, totalSize, nextPageToken }, { query }) {
  const { agent = '', state: only = '', page, order = '', q = '' } = query
  const set = ({ target }) => target.name && filterBy({ [target.name]: target.value.trim(), page: undefined })
  const shown = tasks.filter((task) =>
    sifted(q, subjectOf(task.id), task.id, task.originator, task.assignee, task.state),
  )
  return html`<form class="row bar" @submit=${(event) => event.preventDefault()} @change=${set}>
      ${searchField(q, 'Search these tasks')}
      <label>State<select name="state"><option value="">all</option>${states.map((one) => html`<option value=${one} ?selected=${one === only}>${one}</option>`)}</select></label>
      <label>Agent<input name="agent" .value=${agent} placeholder="@donna" autocomplete="off" spellcheck="false" size="12"></label>
      <label>Order<select name="order"><option value="">newest change first</option><option value="oldest" ?selected=${order === 'oldest'}>oldest change first</option></select></label></form>
    <p class="dim">${counted(totalSize, 'task')}, ${pageSize} on a page${q === '' ? '' : `; ${shown.length} of these have “${q}”`}.</p>
    ${shown.length === 0 ? html`<p class="empty">No tasks here.</p>` : taskList(shown)}
    <p class="row">${page ? html`<button @click=${() => filterBy({ page: undefined })}>Back to the beginning</button>` : nothing}
      ${nextPageToken ? html`<button @click=${() => filterBy({ page: nextPageToken })}>Look further</button>` : nothing}</p>`
}

/** Reads the tasks of an agent by state: the newest of each, and how many there are. */
export async function loadBoard(agent) {
  const none = { tasks: [], totalSize: 0 }
  const read = (one) => readable(get('/v1/tasks', { agent, state: one, pageSize: columnMax, historyLength: 1 }), none)
  const all = await Promise.all(
    columns.map(async ([name, some]) => {
      const lists = await Promise.all(some.map(read))
      const newest = lists
        .flatMap(({ tasks }) => tasks)
        .sort((one, other) => (one.lastModifiedAt < other.lastModifiedAt ? 1 : -1))
      const counts = lists.map(({ totalSize }, at) => [some[at], totalSize]).filter(([, count]) => count > 0)
      return { name, tasks: newest.slice(0, columnMax), counts }
    }),
  )
  await nameTasks(all.flatMap(({ tasks }) => tasks))
  return all
}

export function board(agent, all) {
  return html`<div class="board">${all.map(
    ({ name, tasks, counts }) => html`<section aria-label=${name}><h3>${name}</h3>
    ${counts.length === 0 ? html`<p class="dim">none</p>` : counts.map(([one, count]) => html`<a class="dim" href=${linkTo('tasks', undefined, { agent, state: one })}>${one} ${count.toLocaleString('en')}</a> `)}
    ${taskList(tasks)}</section>`,
  )}</div>`
}

export const taskList = (tasks) => html`<ul class="lines tasks">${repeat(tasks, ({ id }) => id, taskItem)}</ul>`

const taskItem = ({
  id,
  state: word,
  originator,
  assignee,
  lastModifiedAt,
}) => html`<li><a href=${linkTo('tasks', id)}>${state(word)}<b>${line(subjectOf(id) || 'No subject', 120)}</b>${age(lastModifiedAt)}
  <span class="note">${line(originator, 60)} → ${line(assignee, 60)}</span></a></li>`
