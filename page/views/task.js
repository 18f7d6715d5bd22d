import { linkTo } from '../router.js'
import { facts, line, plain, state, when } from '../show.js'
import { html, nothing } from '../vendor/lit.js'
import { answerTask, cancelTask } from './answers.js'
import { isEnd, readStory, storyList, timePicture } from './story.js'

export const title = ({ id }, data) => plain(data?.subject || `Task ${id}`).slice(0, 200)

export const load = ({ id }) => readStory(id)

export function view({ task, entries, isCut, spans, subject }, tools) {
  const {
    id: taskId,
    state: now,
    originator,
    assignee,
    agent: sentTo,
    version,
    createdAt,
    priority,
    reason,
    expiresAt,
    person,
  } = task
  const about = { id: `${taskId}@${version}`, taskId, version, sentTo, agent: assignee, title: subject || 'this task' }
  const isAsking = now.endsWith('-required')
  const question = task.status.message?.parts?.map(({ text }) => text ?? '').join('\n\n') ?? ''
  return html`${facts([
    state(now),
    html`<span>${party(originator, person)} → ${party(assignee)}</span>`,
    html`begun ${when(createdAt)}`,
    priority === 'normal' ? null : html`priority ${priority}`,
    reason ? line(reason) : null,
    expiresAt && now === 'submitted' ? html`expires ${when(expiresAt)}` : null,
    html`<span class="dim">version ${version} · <code>${line(taskId)}</code></span>`,
  ])}
    ${timePicture(spans)}
    <h2>What happened</h2>
    ${isCut ? html`<p class="failure">It has more than is read here: of its messages the first 2,000.</p>` : nothing}
    ${storyList(entries)}
    ${
      isAsking
        ? answerTask({ ...about, text: question, kind: now === 'auth-required' ? 'auth' : 'input' }, tools)
        : isEnd(now) || !tools.may('work')
          ? nothing
          : html`<p class="row"><button class="danger" @click=${() => cancelTask(about, tools.act)}>Cancel the task…</button></p>`
    }`
}

const party = (name, person) =>
  name === '@operator' || name.includes(':')
    ? line(person ?? name)
    : html`<a href=${linkTo('agents', name)}>${line(name)}</a>`
