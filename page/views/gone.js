import { get, pages, readable } from '../api.js'
import { draftOf, keepDraft } from '../drafts.js'
import { linkTo } from '../router.js'
import { failed, line, say, state, when } from '../show.js'
import { html, nothing } from '../vendor/lit.js'
import { ending } from './approval.js'

/** Reads a need that waits and is beyond the list, which has five of an agent and kind. undefined: it waits no more. */
export async function readUnlisted(id) {
  const asked = id.startsWith('APPROVAL:') ? await readAsked(id) : await readTaskOf(id)
  if (asked === undefined) return undefined
  const { needs } = await get('/v1/needs', { agent: asked.agent })
  return needs.find((need) => need.id === id) ?? asked.need
}

/** An open approval: the need is written out here for the case that the list of its agent is cut. */
async function readAsked(id) {
  const found = await readable(get(`/v1/approvals/${encodeURIComponent(id)}`), undefined)
  if (found?.state !== 'open') return undefined
  const { agent, askedAt: since, kind: approvalKind, tool: text } = found
  return { agent, need: { id, kind: 'approval', urgency: 'stops', agent, since, text, approvalId: id, approvalKind } }
}

async function readTaskOf(id) {
  const [taskId, version] = id.split('@')
  if (!isTaskId(taskId)) return undefined
  const path = `/v1/tasks/${encodeURIComponent(taskId)}`
  const task = await readable(get(path, { historyLength: 0 }), undefined)
  return task?.version === Number(version) ? { agent: task.assignee } : undefined
}

const isTaskId = (text) => /^[0-9a-f-]{36}$/.test(text)

/** The end of a need that waits no more: who answered it. */
export async function readGone(id) {
  if (id.startsWith('APPROVAL:'))
    return { approval: await readable(get(`/v1/approvals/${encodeURIComponent(id)}`), undefined) }
  const [taskId, version] = id.split('@')
  if (!isTaskId(taskId)) return {}
  const { items } = await readable(pages('/v1/events', { task: taskId, limit: 1000 }, 'events', 1), { items: [] })
  const change = items.find(({ type, data }) => type === 'task.state_changed' && data.version > Number(version))
  return { taskId, change }
}

/** A need that somebody has answered meanwhile, and what was typed here for it. */
export function gone({ id, title, detail }, { draw, reload }) {
  if (detail === null) return html`<p class="dim reading">Reading…</p>`
  if (detail.error) return failed(detail.error, reload)
  const { approval, change, taskId } = detail
  const draft = draftOf(id)
  const throwAway = () => {
    keepDraft(id, '')
    draw()
  }
  const copy = () => navigator.clipboard?.writeText(draft)
  return html`<article class="entry" aria-labelledby="entry-title"><a class="back" href=${linkTo('needs')}>‹ All needs</a>
    <header><h2 id="entry-title" class="title">${line(title ?? 'It waits no more', 300)}</h2></header>
    <section class="card">${
      approval
        ? ending(approval)
        : change
          ? html`<p>Answered meanwhile by <strong>${line(change.data.person ?? change.actor, 60)}</strong> ${when(change.createdAt)}: it is ${state(change.data.newState)}.</p>`
          : html`<p>It waits no more.</p>`
    }
    ${draft === '' ? nothing : html`<p>Your text:</p><div class="quoted">${say(draft)}</div><div class="row"><button @click=${copy}>Copy it</button><button @click=${throwAway}>Throw it away</button></div>`}
    ${taskId ? html`<p><a href=${linkTo('tasks', taskId)}>The task</a></p>` : nothing}</section></article>`
}
