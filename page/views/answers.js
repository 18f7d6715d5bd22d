import { call, sendMessage } from '../api.js'
import { confirm } from '../dialog.js'
import { linkTo } from '../router.js'
import { line, short } from '../show.js'
import { html, nothing } from '../vendor/lit.js'
import { pause, reactivate, sendTest } from './mend.js'

/** The answer to each kind of need, given where it is shown. */
export const answers = {
  input: (need, tools) => answerTask(need, tools, 'Your answer', 'Answer'),
  auth: (need, tools) => answerTask(need, tools, 'What you have done', 'It is done'),
  approval: ({ agent }, { may }) => html`<p>Approve it where the harness runs.</p>
    ${may('send') ? html`<a class="button" href=${linkTo('write', undefined, { to: agent })}>Write to ${line(agent)}</a>` : nothing}`,
  mail: answerMail,
  failing: mend,
  degraded: mend,
  retrying: mend,
  gate: openGate,
  parked: ({ agent }, { act, may }) =>
    may('work') ? html`<button @click=${() => endPark(agent, act)}>End the park</button>` : nothing,
  capped: () => nothing,
  late: ({ taskId, version }, { act, may }) =>
    may('work')
      ? html`<button class="danger" @click=${() => cancelTask(taskId, version, act)}>Cancel the task</button>`
      : nothing,
}

export function answerTask({ taskId, version, sentTo }, { act, may }, label, action) {
  if (!may('work')) return nothing
  const send = async (event) => {
    event.preventDefault()
    const form = event.target
    const text = form.elements.text.value
    if (await act('The answer is sent.', () => sendMessage(sentTo, text, taskId))) form.reset()
  }
  return html`<form @submit=${send}>
    <label>${label}<textarea name="text" rows="3" required maxlength="100000"></textarea></label>
    <div class="row"><button class="main">${action}</button>
      <button type="button" class="danger" @click=${() => cancelTask(taskId, version, act)}>Cancel the task</button></div>
  </form>`
}

function answerMail({ messageId, threadId, agent }, { act, may }) {
  const resolve = () =>
    call('POST', `/v1/messages/${encodeURIComponent(messageId)}/status`, { body: { status: 'resolved' } })
  const send = (event) => {
    event.preventDefault()
    const body = event.target.elements.text.value
    act('The reply is sent.', async () => {
      await call('POST', '/v1/messages', { body: { inReplyTo: messageId, body } })
      await resolve()
    })
  }
  return html`<form @submit=${send}>
    ${may('send') ? html`<label><span>Reply to ${line(agent)}</span><textarea name="text" rows="3" required></textarea></label>` : nothing}
    <div class="row">${may('send') ? html`<button class="main">Reply</button>` : nothing}
      ${may('work') ? html`<button type="button" @click=${() => act('It is marked as resolved.', resolve)}>Resolved</button>` : nothing}
      <a class="button" href=${linkTo('threads', threadId)}>Thread</a></div>
  </form>`
}

const moveTask = (taskId, body) => call('POST', `/v1/tasks/${encodeURIComponent(taskId)}/transitions`, { body })

export async function cancelTask(taskId, version, act) {
  const text = `Task ${short(taskId)} ends, and both parties are told. This cannot be taken back.`
  if (!(await confirm({ title: 'Cancel 1 task?', text, action: 'Cancel the task', danger: true }))) return
  await act('The task is canceled.', () => moveTask(taskId, { to: 'canceled', expectedVersion: version }))
}

function mend({ subscriptionId, kind }, { act, may }) {
  if (!may('manage')) return nothing
  return html`<div class="row">
    ${kind === 'degraded' ? html`<button class="main" @click=${() => reactivate([subscriptionId], act)}>Reactivate</button>` : nothing}
    <button @click=${() => sendTest(subscriptionId, act)}>Send a test wake</button>
    <button @click=${() => pause([subscriptionId], act)}>Pause</button></div>`
}

export async function endPark(agent, act) {
  const text = 'It is woken again at once, with everything that waits for it.'
  if (!(await confirm({ title: `End the park of ${agent}?`, text, action: 'End the park' }))) return
  await act('The park is over.', () => call('DELETE', '/v1/parked', { query: { agent } }))
}

function openGate({ agent }, { act, may, caller }) {
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
    act('The gate is changed.', () => call('PATCH', '/v1/gate', { body }))
  }
  return html`<details><summary>Open the gate</summary><form @submit=${send}>
    <p>It opens with the proof of a wake test that came full circle since: <code>rouse wake test ${agent ?? '@agent'}</code> prints the id of its message.</p>
    <label>Message of the wake test<input name="proof" placeholder="MESSAGE:…" autocomplete="off" spellcheck="false"></label>
    <label>Open<select name="open"><option value="nudges">nudges</option><option value="both">nudges and restarts</option></select></label>
    <label>What has gathered<select name="backlog"><option value="digest">send it as one digest</option>
      <option value="skip">leave it in the inbox</option><option value="off">keep the gate shut</option></select></label>
    <button class="main">Change the gate</button></form></details>`
}
