import { pages, readable } from '../api.js'
import { linkTo } from '../router.js'
import { chip, line, short, state, when } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'

export const title = 'Agents'

export async function load() {
  const [agents, working, recovery] = await Promise.all([
    pages('/v1/agents', { limit: 200 }, 'agents'),
    readable(pages('/v1/tasks', { state: 'working', pageSize: 100, historyLength: 1 }, 'tasks', 2), []),
    readable(pages('/v1/recovery', { limit: 200 }, 'recovery'), []),
  ])
  const known = new Map(recovery.map((one) => [one.agent, one]))
  return agents.map((agent) => ({
    ...agent,
    tasks: working.filter(({ assignee }) => assignee === agent.handle),
    recovery: known.get(agent.handle),
  }))
}

export function view(agents) {
  if (agents.length === 0)
    return html`<p class="empty">No agents yet. Add one in a terminal: rouse agent add @donna</p>`
  return html`<table class="wide">
    <thead><tr><th scope="col">Agent</th><th scope="col">Doing</th><th scope="col">Works on</th><th scope="col">Route</th>
      <th scope="col">Unread</th><th scope="col">Last seen</th></tr></thead>
    <tbody>${repeat(agents, ({ handle }) => handle, row)}</tbody></table>`
}

function row({ handle, displayName, presence, session, tasks, recovery, lastSeenAt }) {
  return html`<tr>
    <th scope="row"><a href=${linkTo('agents', handle)}>${line(handle)}</a> ${displayName ? html`<span class="dim">${line(displayName, 40)}</span>` : nothing}</th>
    <td data-label="Doing">${session ? state(presence.state) : chip('no session')}
      ${session ? html`<span class="dim">${line(session.surface, 30)} s${session.sessionId.slice(-6)}</span>` : nothing}
      ${recovery?.parked ? html`${chip('parked', 'ask')} <span class="dim">${recovery.parked.reason}</span>` : nothing}</td>
    <td data-label="Works on">${
      tasks.length === 0
        ? html`<span class="dim">no task</span>`
        : tasks
            .slice(0, 3)
            .map(
              (task) =>
                html`<div><a href=${linkTo('tasks', task.id)}>${short(task.id)}</a> ${line(subject(task), 60)}</div>`,
            )
    }${tasks.length > 3 ? html`<div class="dim">and ${tasks.length - 3} more</div>` : nothing}</td>
    <td data-label="Route">${routeOf(recovery)}</td>
    <td data-label="Unread">${recovery ? looked(recovery.waiting?.unread ?? 0) : html`<span class="dim">not yours to see</span>`}</td>
    <td data-label="Last seen">${when(lastSeenAt)}</td></tr>`
}

/** A number of which the gateway counts 200. */
export const looked = (count) => (count < 200 ? count : `${count}+`)

/** The way by which an agent is woken, and what it has proved. */
export function routeOf(recovery) {
  if (!recovery) return html`<span class="dim">not yours to see</span>`
  const { route } = recovery
  if (!route) return html`<span class="dim">none is open</span>`
  const { harnessTarget, isProven, provedAt } = route
  return html`${harnessTarget} ${isProven ? chip('proven', 'good') : chip('unproven')}
    ${provedAt ? html`<span class="dim">${when(provedAt)}</span>` : nothing}`
}

/** The first text of a task. */
export const subject = ({ history }) => history[0]?.parts?.find(({ text }) => text)?.text?.split('\n')[0] ?? ''
