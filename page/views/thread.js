import { call, pages } from '../api.js'
import { linkTo } from '../router.js'
import { chip, line, say, short, when } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'

export const title = ({ id }) => `Thread ${short(id)}`

/** An operator who reads others' mail is in the audit each time, so it is read again only when mail has changed. */
export const listens = ({ type }) => type.startsWith('message.')
export const load = ({ id }) => pages(`/v1/threads/${encodeURIComponent(id)}`, { limit: 100 }, 'messages')

export function view(messages, { act, may }) {
  const last = messages.at(-1)
  const send = async (event) => {
    event.preventDefault()
    const form = event.target
    const body = { inReplyTo: last.messageId, body: form.elements.text.value }
    if (await act('The reply is sent.', () => call('POST', '/v1/messages', { body }))) form.reset()
  }
  return html`<ol class="cards">${repeat(messages, ({ messageId }) => messageId, letter)}</ol>
    ${
      last && may('send')
        ? html`<form @submit=${send}><label><span>Reply to ${line(last.from)}</span><textarea name="text" rows="4" required></textarea></label>
      <button class="main">Reply</button></form>`
        : nothing
    }`
}

function letter({
  from,
  to,
  subject,
  body,
  type,
  signalType,
  priority,
  taskId,
  recipients,
  recipientCount,
  createdAt,
}) {
  return html`<li class="card"><h2>${line(from)} <span class="does">to ${line(to ?? recipients[0]?.agent)}</span> <span class="dim">${when(createdAt)}</span></h2>
    <p>${type === 'msg' ? nothing : chip(type)} ${signalType ? chip(line(signalType, 40)) : nothing} ${priority === 'high' ? chip('high', 'bad') : nothing}
      <strong>${line(subject)}</strong> ${taskId ? html`<a href=${linkTo('tasks', taskId)}>Task ${short(taskId)}</a>` : nothing}</p>
    ${say(body)}
    <ul class="plain">${recipients.map(chain)}</ul>
    ${recipientCount > recipients.length ? html`<p class="dim">and ${recipientCount - recipients.length} more</p>` : nothing}</li>`
}

const steps = [
  ['deliveredAt', 'delivered'],
  ['seenAt', 'seen'],
  ['ackedAt', 'acked'],
  ['resolvedAt', 'resolved'],
  ['supersededAt', 'superseded'],
]

/** The steps of one recipient with the message, each with its time. */
function chain({ agent, receipt, deliveryMethod, wake, held, ...times }) {
  return html`<li><strong>${line(agent)}</strong> ${chip(receipt)} ${steps.map(([field, word]) => (times[field] ? html`→ ${word} ${when(times[field])} ` : nothing))}
    <span class="dim">${deliveryMethod ? `by ${deliveryMethod}` : ''} ${wake ? html`wake: ${line(wake.step)} ${line(wake.detail)}` : nothing}
      ${held ? html`waits: ${line(held.reason)}` : nothing}</span></li>`
}
