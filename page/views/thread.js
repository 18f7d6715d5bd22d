import { call, get } from '../api.js'
import { textForm } from '../drafts.js'
import { linkTo } from '../router.js'
import { chip, counted, line, plain, say, short, when } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'

export const title = ({ id }, data) => plain(data?.messages[0]?.subject || `Thread ${short(id)}`).slice(0, 200)

/** An operator who reads others' mail is in the audit each time, so it is read again only when mail has changed. */
export const listens = ({ type }) => type.startsWith('message.')

const pageSize = 100
const pagesMax = 40
const step = 50

/** The thread that was read last: its full pages do not change but for the steps of their recipients, so its last page is read again. */
let memory = { id: null }
let shownMax = step

export function forget() {
  memory = { id: null }
}

/** A thread begins with its oldest message, so it is read to its end. */
export async function load({ id }) {
  if (memory.id !== id) {
    memory = { id, before: [], pageToken: '' }
    shownMax = step
  }
  let { before, pageToken } = memory
  for (let page = 0; page < pagesMax; page++) {
    const answer = await get(`/v1/threads/${encodeURIComponent(id)}`, { limit: pageSize, pageToken })
    if (!answer.nextPageToken) {
      memory = { id, before, pageToken }
      return { messages: [...before, ...answer.messages], isCut: false }
    }
    before = [...before, ...answer.messages]
    pageToken = answer.nextPageToken
  }
  return { messages: before, isCut: true }
}

export function view({ messages, isCut }, { act, may, draw, id }) {
  const last = messages.at(-1)
  const shown = messages.slice(-shownMax)
  const send = (text) =>
    act('The reply is sent.', () => call('POST', '/v1/messages', { body: { inReplyTo: last.messageId, body: text } }))
  const older = () => {
    shownMax += 200
    draw()
  }
  return html`${isCut ? html`<p class="failure">This thread is longer than what is read here: its newest messages after these ${counted(messages.length, 'message')} are not shown.</p>` : nothing}
    ${shown.length < messages.length ? html`<p class="row"><span class="dim">The newest ${shown.length} of ${counted(messages.length, 'message')}.</span> <button @click=${older}>Show older ones</button></p>` : nothing}
    <ol class="plain letters">${repeat(shown, ({ messageId }) => messageId, letter)}</ol>
    ${last && may('send') && !isCut ? textForm({ id: `thread ${id}`, label: html`Reply to ${line(last.from, 60)}`, action: 'Reply', rows: 4, send }) : nothing}`
}

function letter(message) {
  const { from, person, to, subject, body, type, signalType, priority, taskId, recipients, recipientCount, createdAt } =
    message
  return html`<li class="card"><p class="head"><strong>${line(person ?? from, 60)}</strong> <span class="dim">to ${line(to ?? recipients[0]?.agent, 60)} · ${when(createdAt)}</span>
    ${type === 'msg' ? nothing : chip(type)} ${signalType ? chip(line(signalType, 40)) : nothing} ${priority === 'high' ? chip('high', 'bad') : nothing}</p>
    <p><strong>${line(subject, 200)}</strong> ${taskId ? html`<a href=${linkTo('tasks', taskId)}>Task ${short(taskId)}</a>` : nothing}</p>
    ${say(body)}
    <ul class="plain chain">${recipients.map(chain)}</ul>
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
