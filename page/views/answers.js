import { call, sendMessage } from '../api.js'
import { confirm } from '../dialog.js'
import { textForm } from '../drafts.js'
import { linkTo } from '../router.js'
import { line, plain, say } from '../show.js'
import { html, nothing } from '../vendor/lit.js'

/** The question of a task, and its answer directly below. `more`: further buttons. */
export function answerTask(
  { id, taskId, version, sentTo, agent, text, kind, title },
  { act, may },
  { after, more = nothing } = {},
) {
  const isAuth = kind === 'auth'
  const send = (answer) =>
    act(`The answer is sent: ${plain(title)}.`, () => sendMessage(sentTo, answer, taskId), { after })
  return html`<section class="card asks"><h3>${line(agent, 60)} ${isAuth ? 'needs this from you' : 'asks'}</h3>${say(text)}
    ${
      may('work')
        ? textForm({
            id,
            label: isAuth ? 'What you have done' : 'Your answer',
            action: isAuth ? 'It is done' : 'Send the answer',
            send,
            more: html`${more}<button type="button" class="danger" @click=${() => cancelTask({ taskId, version, title }, act, { after })}>Cancel the task…</button>`,
          })
        : html`<p class="dim">This key may not answer: it has no scope “work”.</p>`
    }</section>`
}

const moveTask = (taskId, body) => call('POST', `/v1/tasks/${encodeURIComponent(taskId)}/transitions`, { body })

export async function cancelTask({ taskId, version, title }, act, more) {
  const text = 'It ends, and both parties are told. This cannot be taken back.'
  const name = plain(title).slice(0, 120)
  if (
    !(await confirm({
      title: `Cancel “${name}”?`,
      text,
      action: 'Cancel the task',
      other: 'Let it go on',
      danger: true,
    }))
  )
    return
  await act(`Canceled: ${name}.`, () => moveTask(taskId, { to: 'canceled', expectedVersion: version }), more)
}

export const resolveMail = ({ messageId }) =>
  call('POST', `/v1/messages/${encodeURIComponent(messageId)}/status`, { body: { status: 'resolved' } })

/** A letter and the reply to it. `resolve` marks it as done. */
export function answerMail({ id, messageId, threadId, agent, text, isCut }, { act, may }, { after, resolve }) {
  const send = (body) =>
    act(
      `The reply to ${agent} is sent.`,
      async () => {
        await call('POST', '/v1/messages', { body: { inReplyTo: messageId, body } })
        await resolveMail({ messageId })
      },
      { after },
    )
  const done = may('work')
    ? html`<button type="button" data-key="e" @click=${resolve}>Resolved <kbd>e</kbd></button>`
    : nothing
  const thread = html`<a class="button" href=${linkTo('threads', threadId)}>Thread</a>`
  return html`${say(text)}${isCut ? html`<p class="dim">This is its beginning. <a href=${linkTo('threads', threadId)}>Its thread has all of it.</a></p>` : nothing}
    ${
      may('send')
        ? textForm({ id, label: html`Reply to ${line(agent)}`, action: 'Reply', send, more: html`${done}${thread}` })
        : html`<div class="row">${done}${thread}</div>`
    }`
}

export async function endPark(agent, act, more) {
  const text = 'It is woken again at once, with everything that waits for it.'
  if (!(await confirm({ title: `End the park of ${agent}?`, text, action: 'End the park' }))) return
  await act(`${agent} is no longer parked.`, () => call('DELETE', '/v1/parked', { query: { agent } }), more)
}

export function openGate({ agent }, { act, may, caller }, more) {
  if (caller.kind !== 'operator' || !may('manage')) return html`<p>An operator opens it.</p>`
  const send = (event) => {
    event.preventDefault()
    const { proof, backlog, open } = event.target.elements
    const opened = open.value === 'both' ? { nudges: 'enabled', restarts: 'enabled' } : { nudges: 'enabled' }
    const body = {
      ...(agent === null ? {} : { agent }),
      ...(backlog.value === 'off' ? {} : opened),
      ...(proof.value === '' ? {} : { proof: proof.value.trim() }),
      backlog: backlog.value,
    }
    act('The gate is changed.', () => call('PATCH', '/v1/gate', { body }), more)
  }
  return html`<form class="fields" @submit=${send}>
    <p>It opens with the proof of a wake test that came full circle since: <code>rouse wake test ${agent ?? '@agent'}</code> prints the id of its message.</p>
    <label>Message of the wake test<input name="proof" data-key="r" placeholder="MESSAGE:…" autocomplete="off" spellcheck="false"></label>
    <label>Open<select name="open"><option value="nudges">nudges</option><option value="both">nudges and restarts</option></select></label>
    <label>What has gathered<select name="backlog"><option value="digest">send it as one digest</option>
      <option value="skip">leave it in the inbox</option><option value="off">keep the gate shut</option></select></label>
    <button class="main">Change the gate</button></form>`
}
