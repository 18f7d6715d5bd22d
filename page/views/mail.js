import { get, pages, readable } from '../api.js'
import { linkTo } from '../router.js'
import { age, chip, line } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { searchField, sifted } from './list.js'

export const title = 'Mail'

export const listens = ({ type }) => type.startsWith('message.')

export async function load({ query: { page, box } }) {
  if (box === 'sent') {
    const { items, isCut } = await readable(pages('/v1/messages', { limit: 50, pageToken: page }, 'messages', 1), {
      items: null,
    })
    return { messages: items, isCut }
  }
  const { messages, nextPageToken } = await readable(get('/v1/inbox', { limit: 50, order: 'newest' }), {
    messages: null,
  })
  return { messages, isCut: Boolean(nextPageToken) }
}

export function view({ messages, isCut }, { may, query: { q = '', box = '' } }) {
  const tab = (value, words) =>
    html`<a href=${linkTo('mail', undefined, { box: value || undefined })} aria-current=${box === value ? 'true' : nothing}>${words}</a>`
  const bar = html`<div class="bar">${searchField(q, 'Search this mail')}<nav class="chips" aria-label="Box">${tab('', 'Received')}${tab('sent', 'Sent')}</nav>
    ${may('send') ? html`<a class="button main" href=${linkTo('write')}>Write</a>` : nothing}</div>`
  if (messages === null) return html`${bar}<p class="empty">Not yours to see.</p>`
  const shown = messages.filter((one) => sifted(q, one.subject, one.body, one.from, one.to, one.person))
  return html`${bar}<ul class="lines mail">${repeat(
    shown,
    ({ messageId }) => messageId,
    (one) => item(one, box),
  )}</ul>
    ${shown.length === 0 ? html`<p class="empty">${messages.length === 0 ? 'No mail yet.' : 'No mail has this.'}</p>` : nothing}
    ${isCut ? html`<p class="dim">These are the newest 50. A thread has all of its mail.</p>` : nothing}`
}

function item({ from, person, to, subject, body, threadId, taskId, status, recipients, createdAt }, box) {
  const link = taskId ? linkTo('tasks', taskId) : linkTo('threads', threadId)
  const who = box === 'sent' ? html`to ${line(to ?? recipients?.[0]?.agent, 60)}` : line(person ?? from, 60)
  const mark =
    box === 'sent' ? chip(recipients?.[0]?.receipt ?? 'sent') : status === 'sent' ? chip('unread', 'ask') : chip(status)
  const [first = '', ...rest] = String(body ?? '').split('\n')
  return html`<li><a href=${link}>${mark}<b>${line(subject || first || 'No subject', 120)}</b>${age(createdAt)}
    <span class="note">${who}${body ? html` · ${line(subject && subject !== first ? body : rest.join(' '), 160)}` : nothing}</span></a></li>`
}
