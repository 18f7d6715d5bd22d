import { pages, readable } from '../api.js'
import { linkTo } from '../router.js'
import { age, chip, counted, line, state, when } from '../show.js'
import { learnTask, readSubjects, subjectOf } from '../subjects.js'
import { linesOf, markOf, urgencies } from '../urgency.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { searchField, sifted } from './list.js'

export const title = 'Agents'

export async function load(tools) {
  const [agents, working, recovery, needs] = await Promise.all([
    pages('/v1/agents', { limit: 200 }, 'agents'),
    readable(pages('/v1/tasks', { state: 'working', pageSize: 100, historyLength: 1 }, 'tasks', 1), { items: [] }),
    readable(pages('/v1/recovery', { limit: 200 }, 'recovery'), { items: [] }),
    tools.readNeeds(),
  ])
  for (const task of working.items) learnTask(task)
  const known = new Map(recovery.items.map((one) => [one.agent, one]))
  const waiting = Map.groupBy ? Map.groupBy(linesOf(needs), ({ agent }) => agent) : groupBy(linesOf(needs))
  const all = agents.items.map((agent) => ({
    ...agent,
    tasks: working.items.filter(({ assignee }) => assignee === agent.handle),
    recovery: known.get(agent.handle),
    needs: (waiting.get(agent.handle) ?? []).filter(({ kind, snoozedUntil }) => kind !== 'mail' && !snoozedUntil),
  }))
  await readSubjects(all.flatMap(({ tasks }) => tasks.slice(0, 1).map(({ id }) => id)))
  return { agents: all.sort(byNeed), isCut: agents.isCut }
}

function groupBy(lines) {
  const groups = new Map()
  for (const one of lines) groups.set(one.agent, [...(groups.get(one.agent) ?? []), one])
  return groups
}

/** The order of agents: those that need somebody, then those that work, then by name. */
function byNeed(one, other) {
  const rank = ({ needs: [first], tasks }) =>
    first ? urgencies.findIndex(([name]) => name === first.urgency) : tasks.length > 0 ? 10 : 11
  return rank(one) - rank(other) || (one.handle < other.handle ? -1 : 1)
}

export function view({ agents, isCut }, { query: { q = '' } }) {
  if (agents.length === 0) return firstDay
  const shown = agents.filter(({ handle, displayName, description, session }) =>
    sifted(q, handle, displayName, description, session?.surface),
  )
  const needing = agents.filter(({ needs: [first] }) => first && first.urgency !== 'late').length
  return html`<div class="bar">${searchField(q, 'Search agents')}<span class="dim">${counted(agents.length, 'agent')}${isCut ? ' and more: these are the first by name' : ''}${needing > 0 ? `, ${needing === 1 ? 'one needs' : `${needing} need`} you` : ''}</span></div>
    <table class="wide agents"><thead><tr><th scope="col">Agent</th><th scope="col">Does</th><th scope="col">Woken by</th><th scope="col" class="r">Unread</th><th scope="col" class="r">Seen</th></tr></thead>
    <tbody>${repeat(shown, ({ handle }) => handle, row)}</tbody></table>
    ${shown.length === 0 ? html`<p class="empty">No agent has this in its name.</p>` : nothing}`
}

const firstDay = html`<div class="empty start"><p>No agents yet. This is how the first one begins, in a terminal:</p>
  <ol><li><code>rouse agent add @donna</code> makes it and prints its key</li>
    <li><code>rouse listen --exec ./on-wake.sh</code> runs a command for each wake; <code>rouse install</code> sets up a harness instead</li>
    <li><code>rouse send @donna "Hello"</code> gives it a first task</li></ol>
  <p>It appears here at once.</p></div>`

const dots = { stops: 'ask', wakes: 'bad', late: 'late' }

function row(agent) {
  const { handle, displayName, session, tasks, recovery, lastSeenAt, needs } = agent
  const [first] = needs
  const dot = first
    ? dots[first.urgency]
    : recovery?.parked
      ? 'park'
      : tasks.length > 0
        ? 'busy'
        : session
          ? 'good'
          : ''
  const trouble = needs.find(({ kind }) => ['degraded', 'failing', 'retrying'].includes(kind))
  const why = trouble?.note.replace(`${handle} · `, '')
  return html`<tr class=${first && first.urgency !== 'late' ? 'need' : ''}>
    <th scope="row"><span class="dot ${dot}"></span><a href=${linkTo('agents', handle)}>${line(handle, 40)}</a><small>${displayName ? html`${line(displayName, 40)} · ` : nothing}${session ? line(session.surface.replaceAll('_', ' '), 30) : 'no session'}</small></th>
    <td class="does">${doing(agent)}</td>
    <td>${trouble ? html`${chip(...markOf(trouble.kind))} ${why === 'gone' ? nothing : html`<small>${line(why, 80)}</small>`}` : routeOf(recovery)}</td>
    <td class="r" data-label="unread">${recovery ? looked(recovery.waiting?.unread ?? 0) : html`<span class="dim">not yours to see</span>`}</td>
    <td class="r" data-label="seen">${lastSeenAt ? age(lastSeenAt) : html`<span class="dim">never</span>`}</td></tr>`
}

/** The doings of an agent: its open needs first, then its work. */
function doing({ needs, presence, session, tasks, recovery }) {
  const [waits] = needs.filter(
    ({ urgency, kind }) => urgency === 'stops' || kind === 'parked' || kind === 'capped' || kind === 'late',
  )
  const [task] = tasks
  const more = tasks.length > 1 ? html` <small>and ${tasks.length - 1} more</small>` : nothing
  const work = task
    ? html`<div>${state('working')} <a href=${linkTo('tasks', task.id)}>${line(subjectOf(task.id) || 'a task', 80)}</a>${more}</div>`
    : nothing
  const open = recovery?.waiting?.openTasks ?? 0
  const rest = open > tasks.length ? html`<small>${looked(open)} open</small>` : nothing
  if (waits)
    return html`<div>${chip(...markOf(waits.kind))} <a href=${linkTo('needs', waits.id)}>${line(waits.title, 90)}</a></div>${work}${rest}`
  if (task) return html`${work}${rest}`
  const isTold = session && presence.state !== 'unknown'
  return html`${isTold ? state(presence.state) : html`<span class="dim">${session ? 'nothing known' : 'nothing'}</span>`} ${rest}`
}

/** A number of which the gateway counts 200. */
export const looked = (count) => (count < 200 ? String(count) : `${count}+`)

/** The way by which an agent is woken, and what it has proved. */
export function routeOf(recovery) {
  if (!recovery) return html`<span class="dim">not yours to see</span>`
  const { route } = recovery
  if (!route) return html`<span class="dim">no route is open</span>`
  const { harnessTarget, isProven, provedAt } = route
  return html`${harnessTarget} ${isProven ? chip('proven', 'good') : chip('unproven')}
    ${provedAt ? html`<small>${when(provedAt)}</small>` : nothing}`
}
